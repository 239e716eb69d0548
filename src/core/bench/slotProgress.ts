/** What `/slots` says about the work of one slot. */
export interface SlotProgress {
  readonly id: number;
  readonly busy: boolean;
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
  if (!Array.isArray(body)) return undefined;
  const slots = (body as readonly unknown[]).map(slotProgress);
  return slots.every((slot) => slot !== undefined) ? slots : undefined;
}

function slotProgress(value: unknown): SlotProgress | undefined {
  if (!isFields(value)) return undefined;
  const { id, is_processing: busy, id_task: task, next_token: next } = value;
  if (typeof id !== "number" || typeof busy !== "boolean") return undefined;
  const answer: unknown = Array.isArray(next) ? next[0] : next;
  return {
    id,
    busy,
    ...(typeof task === "number" && { task }),
    promptTokens: countOf(value["n_prompt_tokens"]),
    cached: countOf(value["n_prompt_tokens_cache"]),
    processed: countOf(value["n_prompt_tokens_processed"]),
    generated: isFields(answer) ? countOf(answer["n_decoded"]) : 0,
  };
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const countOf = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
