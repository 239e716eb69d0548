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
  const { task, startedAt, held, chosen, progress } = active;
  const shared =
    chosen?.kind === "similar" && chosen.kept !== undefined && held !== undefined
      ? chosen.kept * held
      : undefined;
  const cachedTokens = active.cachedTokens ?? (shared === undefined ? undefined : Math.round(shared));
  const promptTokens = promptRange(active, cachedTokens);
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

/** Each progress line bounds the prompt: share is tokens over prompt, to two decimals. */
function promptRange(
  { promptTokens, chosen, held, progress }: Active,
  cached = 0,
): RunningRequest["promptTokens"] {
  if (promptTokens !== undefined) return { low: promptTokens, high: promptTokens };
  let [low, high] = [0, Infinity];
  if (
    chosen?.kind === "similar" &&
    chosen.kept !== undefined &&
    held !== undefined &&
    chosen.similarity > 0
  ) {
    const slack = held * 0.0005 + 1;
    low = (chosen.kept * held - slack) / (chosen.similarity + 0.0005);
    high = (chosen.kept * held + slack) / (chosen.similarity - 0.0005);
  }
  for (const { tokens, whole, share } of progress) {
    const done = whole ? tokens : tokens + cached;
    low = Math.max(low, done / (share + 0.005));
    if (share > 0.005) high = Math.min(high, done / (share - 0.005));
  }
  return low > 0 && high < Infinity && low <= high
    ? { low: Math.floor(low), high: Math.ceil(high) }
    : undefined;
}
