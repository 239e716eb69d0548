import { given } from "../given";
import { Wire } from "../wire";

/** What `/slots` says about the work of one slot. */
export interface SlotProgress {
  readonly id: number;
  readonly busy: boolean;
  /** Tokens one request may hold. */
  readonly limit?: number;
  /** Differs from one request to the next; absent where the slot never had one. */
  readonly task?: number;
  /** Builds differ: tokens of the whole prompt, or of what is in the cache by now. */
  readonly promptTokens: number;
  readonly cached: number;
  /** Tokens read for this request, without the cached ones. */
  readonly processed: number;
  /** Tokens generated; more than none means that the prompt has been read. */
  readonly generated: number;
}

/** Reads `/slots`; undefined where it is not llama-server's (`--no-slots` answers with an error). */
export function readSlotProgress(body: unknown): readonly SlotProgress[] | undefined {
  return new Wire(body, "/slots").ifFits((slots) => slots.items().map(readSlot));
}

function readSlot(slot: Wire): SlotProgress {
  const next = slot.at("next_token");
  const answer = next.ifFits((list) => list.items()[0]) ?? next;
  return given({
    id: slot.at("id").number(),
    busy: slot.at("is_processing").boolean(),
    limit: slot.at("n_ctx").ifFits((value) => value.number()),
    task: slot.at("id_task").ifFits((value) => value.number()),
    promptTokens: countAt(slot, "n_prompt_tokens"),
    cached: countAt(slot, "n_prompt_tokens_cache"),
    processed: countAt(slot, "n_prompt_tokens_processed"),
    generated: countAt(answer, "n_decoded"),
  });
}

const countAt = (from: Wire, key: string): number => from.ifFits((its) => its.at(key).count(0)) ?? 0;
