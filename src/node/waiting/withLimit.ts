import { withAny } from "../../core/signals";
import { TimeLimitError } from "./within";

/**
 * `work` under a signal that is aborted with `signal` or when the time is over. It ends then, also where it does not listen.
 * @throws TimeLimitError when the time is over; the signal's reason when it was aborted
 */
export async function withLimit<T>(
  signal: AbortSignal,
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  // a timer takes no more than 2^31 ms, and fires at once for what is longer
  const timer = setTimeout(
    () => limit.abort(new TimeLimitError(milliseconds)),
    Math.min(milliseconds, 2 ** 31 - 1),
  );
  try {
    return await withAny([signal, limit.signal], work);
  } finally {
    clearTimeout(timer);
  }
}
