import type { PrefillProgress } from "../prefill/liveEta";
import type { CurvePoint } from "../prefill/depthCurve";
import type { RequestTiming } from "../prefill/liveTimings";
import type { SlotProgress } from "./slotProgress";

/** A prompt that a slot reads now. */
export interface SeenPrefill {
  readonly slot: number;
  /** Tokens from the cache, and those already read when it was first seen. */
  readonly cached: number;
  /** Tokens of the whole prompt, where the build tells. */
  readonly total?: number;
  /** Since it was first seen. */
  readonly progress: readonly PrefillProgress[];
}

export interface SlotsSeen {
  readonly reading: readonly SeenPrefill[];
  /** Prompts whose reading ended since the look before. */
  readonly finished: readonly RequestTiming[];
  readonly busy: boolean;
}

interface Followed {
  readonly task: number | undefined;
  readonly began: number;
  readonly cached: number;
  readonly progress: PrefillProgress[];
  /** The prompt's tokens as the slot gave them, and for how many steps they stood still while it read on. */
  promptTokens: number;
  steady: number;
}

/** After so many the slot is taken to tell the whole prompt, not what is in the cache by now. */
const enoughSteady = 2;
/** Spans are at least so long: a look comes up to a second after the batch it sees. */
const spanSeconds = 5;

/** Follows the prompts of a server from look to look: how far each is, and how fast it was read in the end. */
export class SlotWatch {
  readonly #followed = new Map<number, Followed>();

  /** @param at seconds, by a clock that only goes forward */
  see(slots: readonly SlotProgress[], at: number): SlotsSeen {
    const finished: RequestTiming[] = [];
    const reading: SeenPrefill[] = [];
    for (const slot of slots) {
      const known = this.#followed.get(slot.id);
      const reads = slot.busy && slot.generated === 0;
      if (known !== undefined && (!reads || known.task !== slot.task)) {
        this.#followed.delete(slot.id);
        const timing = timingOf(known);
        if (timing !== undefined) finished.push(timing);
      }
      if (reads) reading.push(seen(slot.id, this.#follow(slot, at)));
    }
    return { reading, finished, busy: slots.some((slot) => slot.busy) };
  }

  #follow(slot: SlotProgress, at: number): Followed {
    const processed = slot.cached + slot.processed;
    const known = this.#followed.get(slot.id);
    if (known === undefined) {
      const begun: Followed = {
        task: slot.task,
        began: at,
        cached: processed,
        progress: [{ processed, seconds: 0 }],
        promptTokens: slot.promptTokens,
        steady: 0,
      };
      this.#followed.set(slot.id, begun);
      return begun;
    }
    const last = known.progress.at(-1);
    if (last !== undefined && processed > last.processed && at > known.began + last.seconds) {
      known.progress.push({ processed, seconds: at - known.began });
      const still = slot.promptTokens === known.promptTokens && slot.promptTokens > processed;
      known.steady = still ? known.steady + 1 : 0;
      known.promptTokens = slot.promptTokens;
    }
    return known;
  }
}

function seen(slot: number, { cached, progress, steady, promptTokens }: Followed): SeenPrefill {
  return { slot, cached, progress: [...progress], ...(steady >= enoughSteady && { total: promptTokens }) };
}

/** What was seen of a prompt in spans of several seconds; undefined where it was too short to be timed by looking. */
function timingOf({ cached, progress }: Followed): RequestTiming | undefined {
  const spans: CurvePoint[] = [];
  let [from] = progress;
  if (from === undefined) return undefined;
  for (const step of progress) {
    const seconds = step.seconds - from.seconds;
    if (seconds < spanSeconds) continue;
    spans.push({ depth: from.processed, tokens: step.processed - from.processed, seconds });
    from = step;
  }
  const tokens = spans.reduce((sum, span) => sum + span.tokens, 0);
  const seconds = spans.reduce((sum, span) => sum + span.seconds, 0);
  return spans.length === 0 ? undefined : { cached, tokens, seconds, spans };
}
