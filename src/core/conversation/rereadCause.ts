import { largest } from "../lists";
import type { Reread, RereadKind } from "./requestRecord";

/** A conversation as the server's slots know it. */
export interface KnownConversation {
  readonly id: number;
  readonly slot: number;
  /** Its last request: number, tokens of the prompt and of the answer, tokens in the slot afterwards. */
  readonly request: number;
  readonly promptTokens: number;
  readonly generatedTokens: number;
  readonly fillTokens: number;
  /** The context was shifted during its last answer. */
  readonly shifted: boolean;
  /** Tokens its prompts grew by at most from one to the next; 0 after one request. */
  readonly largestGrowth: number;
  /** Its slot was at work when the request came. */
  readonly busy: boolean;
  /** Its slot still holds it. */
  readonly held: boolean;
  /** Since then the server removed copies from its host memory. */
  readonly copiesRemoved: boolean;
}

/** What is known of a request that was read, and of its slot before. */
export interface ReadRequest {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly chosen:
    | { readonly by: "similarity"; readonly similarity: number; readonly kept: number | undefined }
    | { readonly by: "age" | "other" };
  /** Tokens the slot held before; undefined where the log begins later. */
  readonly held: number | undefined;
  /** The conversation in the slot that was chosen. */
  readonly own: KnownConversation | undefined;
  /** All conversations of this server start, the own one included. */
  readonly all: () => readonly KnownConversation[];
  /** `-sps` as the server printed it. */
  readonly threshold: number | undefined;
  /** Positions of checkpoints of this slot that were erased because there were too many. */
  readonly erased: readonly number[];
  /** The server said that it had to read everything, or that it went back to a checkpoint. */
  readonly wentBack: boolean;
  /** plain: whatever is shared can be kept. checkpoints: sliding window or recurrent state. */
  readonly memory: "plain" | "checkpoints" | undefined;
  /** Copies of idle conversations in host memory: whether the server keeps any. */
  readonly copies: "kept" | "off" | "unknown";
}

export interface ReadAgain {
  readonly tokens: number;
  readonly reread?: Omit<Reread, "seconds" | "tokens">;
  /** The conversation it goes on with, if any. */
  readonly conversation?: number;
}

/** Fewer tokens are the seams of ordinary turns: an answer tokenized otherwise, what lies behind the last checkpoint. */
const worthTelling = 128;
/** The server prints shares with three decimals. */
const rounding = 0.0006;

/** How much of a prompt was read again, and why. */
export function readAgain(request: ReadRequest): ReadAgain {
  return request.chosen.by === "similarity" ? inSimilarSlot(request, request.chosen) : inOtherSlot(request);
}

function inSimilarSlot(
  request: ReadRequest,
  chosen: { readonly similarity: number; readonly kept: number | undefined },
): ReadAgain {
  const { promptTokens, cachedTokens, held, own } = request;
  const estimates: { readonly tokens: number; readonly error: number }[] = [
    { tokens: chosen.similarity * promptTokens, error: rounding * promptTokens + 1 },
    ...(chosen.kept === undefined || held === undefined
      ? []
      : [{ tokens: chosen.kept * held, error: rounding * held + 1 }]),
  ];
  const best = estimates.reduce((one, other) => (other.error < one.error ? other : one));
  const asShared = Math.abs(best.tokens - cachedTokens) <= best.error;
  const shared = asShared ? cachedTokens : Math.round(best.tokens);
  const unused = Math.max(0, shared - cachedTokens);
  // a prompt that is shorter than what the slot held is another conversation with the same beginning, or an edited one
  const goesOn = held !== undefined && promptTokens >= held - (own?.generatedTokens ?? 0);
  // what differs only from its last answer on, as without the thinking, was never read before
  const differs = goesOn && own !== undefined && shared < own.promptTokens - 2;
  const differing = differs ? Math.max(0, Math.min(held, promptTokens) - shared) : 0;
  const tokens = Math.min(unused + differing, promptTokens - cachedTokens);
  const conversation = goesOn ? own?.id : undefined;
  const found = (kind: RereadKind): ReadAgain => ({
    tokens,
    reread: { kind, provenance: "reported", ...(own !== undefined && { after: own.request }) },
    ...(conversation !== undefined && { conversation }),
  });
  if (unused >= worthTelling) return found(unusedKind(request, shared));
  if (differing >= worthTelling) return found(own?.shifted === true ? "contextShift" : "changedBeginning");
  return { tokens, ...(conversation !== undefined && { conversation }) };
}

function unusedKind({ cachedTokens, wentBack, memory, erased }: ReadRequest, shared: number): RereadKind {
  if (erased.some((position) => position > cachedTokens + worthTelling && position <= shared))
    return "checkpointErased";
  if (wentBack || memory === "checkpoints") return "behindCheckpoint";
  if (memory === "plain") return "cachePromptOff";
  // with cache_prompt: false nothing at all is kept
  if (cachedTokens > 0) return "behindCheckpoint";
  return "cacheNotUsed";
}

/** No slot was similar enough. What came out of the copies in host memory tells the conversation; else its length does. */
function inOtherSlot(request: ReadRequest): ReadAgain {
  const { promptTokens, cachedTokens } = request;
  const others = request.all();
  const copied = others.find(
    ({ fillTokens, generatedTokens, promptTokens: before }) =>
      cachedTokens >= worthTelling &&
      cachedTokens <= fillTokens &&
      cachedTokens >= Math.min(before, fillTokens - generatedTokens) - 8,
  );
  if (copied !== undefined) {
    return { tokens: copied.fillTokens - cachedTokens, conversation: copied.id };
  }
  const continued = others
    .filter((conversation) => isContinued(conversation, request))
    .toSorted((one, other) => other.fillTokens - one.fillTokens)
    .find((conversation) => causeOf(conversation, request) !== undefined);
  const kind = continued && causeOf(continued, request);
  if (continued === undefined || kind === undefined) return { tokens: 0 };
  // a shift took tokens out of the slot that had been read all the same
  const before = continued.shifted
    ? continued.promptTokens + continued.generatedTokens
    : continued.fillTokens;
  const tokens = Math.min(before, promptTokens) - cachedTokens;
  if (tokens < worthTelling) return { tokens: Math.max(0, tokens), conversation: continued.id };
  return {
    tokens,
    reread: { kind, provenance: "assumed", after: continued.request },
    conversation: continued.id,
  };
}

/** A prompt that is longer than the conversation by no more than its turns usually add. */
function isContinued(conversation: KnownConversation, request: ReadRequest): boolean {
  const { fillTokens, promptTokens, generatedTokens, largestGrowth } = conversation;
  const before = conversation.shifted ? promptTokens : fillTokens - generatedTokens;
  const growth = request.promptTokens - promptTokens;
  const most = largest([fillTokens / 4, largestGrowth * 3, generatedTokens + largestGrowth * 3]);
  return request.promptTokens > before && ((growth > 0 && growth <= most) || isBelow(conversation, request));
}

/** Even if the slot's whole content were the beginning of the prompt, its share would be below `-sps`. */
function isBelow(
  { fillTokens, held }: KnownConversation,
  { promptTokens, threshold = 0 }: ReadRequest,
): boolean {
  const share = fillTokens / promptTokens;
  return held && threshold > 0.2 && share < threshold && share > threshold / 2;
}

function causeOf(conversation: KnownConversation, request: ReadRequest): RereadKind | undefined {
  if (conversation.shifted) return "contextShift";
  if (conversation.busy) return "slotBusy";
  if (conversation.held) return isBelow(conversation, request) ? "belowThreshold" : "changedBeginning";
  if (conversation.copiesRemoved) return "cacheRamFull";
  // a server that keeps copies and removed none would have found it
  return request.copies === "kept" ? undefined : "slotTaken";
}
