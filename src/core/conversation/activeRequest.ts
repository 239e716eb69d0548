import type { RequestOutcome, RunningRequest } from "./requestRecord";
import type { SlotEvent } from "./serverEvent";

/** How llama-server came to the slot. */
export type SlotChoice = Extract<SlotEvent, { kind: "similar" | "oldest" | "chosenById" }>;

/** What is known of a request while it runs. */
export interface Active {
  readonly task: number;
  readonly startedAt: number | undefined;
  readonly chosen: SlotChoice | undefined;
  readonly held: number | undefined;
  readonly busy: ReadonlySet<number>;
  promptTokens?: number;
  cachedTokens?: number;
  prefill?: { readonly tokens: number; readonly seconds: number };
  generation?: { readonly tokens: number; readonly seconds: number };
  generatedSoFar?: number;
  discarded: number;
  wentBack: boolean;
  cancelled: boolean;
  failed: boolean;
  refused: boolean;
  /** Other slots were at work at some time since it was launched. */
  together: boolean;
  progress: { tokens: number; whole: boolean; share: number; seconds?: number; at: number | undefined }[];
}

/** Progress lines kept of one request: a prompt of a million tokens in batches of 256. */
const keptProgress = 4096;

export function readActive(active: Active, event: SlotEvent, at: number | undefined): void {
  switch (event.kind) {
    case "prompt":
      active.promptTokens = event.tokens;
      break;
    case "cached":
      active.cachedTokens ??= event.tokens;
      break;
    case "prefill":
    case "generation":
      active[event.kind] = event;
      break;
    case "progress": {
      const { tokens, whole, share, seconds } = event;
      active.progress.push({ tokens, whole, share, ...(seconds !== undefined && { seconds }), at });
      if (active.progress.length > keptProgress) active.progress.splice(1, 1);
      break;
    }
    case "generating":
      active.generatedSoFar = event.tokens;
      break;
    case "shift":
      active.discarded += event.discarded;
      break;
    case "allAgain":
    case "checkpointRestored":
      active.wentBack = true;
      break;
    default:
  }
}

export function outcomeOf(active: Active, truncated: boolean): RequestOutcome {
  if (active.refused) return "refused";
  if (active.failed) return "failed";
  if (active.cancelled) return "cancelled";
  return truncated && active.discarded === 0 ? "cut" : "done";
}

/** A slot ends with the prompt and the answer but its last token, which was never decoded; shifts took tokens out. */
export function promptOf({ generation, prefill, discarded }: Active, fill: number): number | undefined {
  if (prefill === undefined) return undefined;
  if (generation === undefined || generation.tokens === 0) return fill + discarded;
  return fill - generation.tokens + 1 + discarded;
}

export function runningRequest(slot: number, active: Active, limit: number | undefined): RunningRequest {
  const { task, startedAt, progress } = active;
  const { promptTokens, cachedTokens } = sizesOf(active, limit);
  const read = progress.flatMap(({ tokens, whole, seconds, at }) => {
    const after = seconds ?? (at === undefined || startedAt === undefined ? undefined : at - startedAt);
    return after === undefined
      ? []
      : [{ tokens: whole ? tokens - (cachedTokens ?? 0) : tokens, seconds: after }];
  });
  return {
    slot,
    task,
    ...(startedAt !== undefined && { startedAt }),
    ...(limit !== undefined && { limit }),
    stage: active.generatedSoFar === undefined ? "reading" : "answering",
    ...(promptTokens !== undefined && { promptTokens }),
    ...(cachedTokens !== undefined && { cachedTokens }),
    progress: read,
    ...(active.generatedSoFar !== undefined && { generatedTokens: active.generatedSoFar }),
  };
}

type Sizes = Pick<RunningRequest, "promptTokens" | "cachedTokens">;

/**
 * Length of the prompt and of its cached part. With similarity the slot's line tells both: shared tokens over those of the prompt,
 * and over those of the slot. Of these fewer may be used (checkpoints); and of a slot that was chosen by age the line tells
 * nothing, though the beginning may be shared, or a copy come from host memory. Then the progress lines decide.
 */
function sizesOf(active: Active, limit: number | undefined): Sizes {
  const { chosen, held, progress, cachedTokens: told } = active;
  if (active.promptTokens !== undefined) {
    const prompt = { low: active.promptTokens, high: active.promptTokens };
    return { promptTokens: prompt, ...(told !== undefined && { cachedTokens: told }) };
  }
  let prior = { low: 0, high: Infinity };
  let shared: number | undefined;
  if (
    chosen?.kind === "similar" &&
    chosen.kept !== undefined &&
    held !== undefined &&
    chosen.similarity > 0
  ) {
    shared = chosen.kept * held;
    const slack = held * 0.0005 + 1;
    prior = {
      low: (shared - slack) / (chosen.similarity + 0.0005),
      high: (shared + slack) / (chosen.similarity - 0.0005),
    };
  }
  const expected = told ?? Math.round(shared ?? 0);
  const most = told ?? shared ?? limit ?? held ?? 0;
  const cached = told ?? nearestPossible(expected, most, (its) => promptRange(progress, its, prior));
  const range = promptRange(progress, cached ?? expected, prior);
  const isKnown = range.low > 0 && range.high < Infinity && range.low <= range.high;
  const cachedTokens = Math.round(cached ?? expected);
  return {
    ...(isKnown && { promptTokens: { low: Math.floor(range.low), high: Math.ceil(range.high) } }),
    ...((shared !== undefined || cachedTokens > 0) && { cachedTokens }),
  };
}

interface Range {
  readonly low: number;
  readonly high: number;
}

/** Each progress line bounds the prompt: share is tokens over prompt, to two decimals. */
function promptRange(progress: Active["progress"], cached: number, prior: Range): Range {
  let { low, high } = prior;
  for (const { tokens, whole, share } of progress) {
    const done = whole ? tokens : tokens + cached;
    low = Math.max(low, done / (share + 0.005));
    if (share > 0.005) high = Math.min(high, done / (share - 0.005));
  }
  return { low, high };
}

/** Enough for a token of a context of a million. */
const halvings = 24;

/**
 * The number of cached tokens nearest to what is expected with which all lines agree on a length of the prompt; undefined: with none.
 * The room they leave is a concave function of that number.
 */
function nearestPossible(
  expected: number,
  most: number,
  rangeOf: (cached: number) => Range,
): number | undefined {
  const room = (cached: number): number => {
    const { low, high } = rangeOf(cached);
    return high - low;
  };
  if (!(room(expected) < 0)) return expected;
  let [from, to] = [0, most];
  for (let step = 0; step < 2 * halvings; step++) {
    const [one, other] = [from + (to - from) / 3, to - (to - from) / 3];
    if (room(one) < room(other)) from = one;
    else to = other;
  }
  let [possible, impossible] = [(from + to) / 2, expected];
  if (room(possible) < 0) return undefined;
  for (let step = 0; step < halvings; step++) {
    const middle = (possible + impossible) / 2;
    if (room(middle) < 0) impossible = middle;
    else possible = middle;
  }
  return possible;
}
