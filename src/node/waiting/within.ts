import { abortReason, onAbort } from "../../core/signals";

/** The promise, unless the signal or the time limit comes first. What was asked of the system is left to end by itself. */
export function within<T>(work: Promise<T>, milliseconds: number, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    work.catch(() => undefined);
    return Promise.reject(abortReason(signal));
  }
  return new Promise((resolve, reject) => {
    const leave = onAbort(signal, () => {
      settle();
      reject(abortReason(signal));
    });
    const timer = setTimeout(() => {
      settle();
      reject(new TimeLimitError(milliseconds));
    }, milliseconds);
    const settle = (): void => {
      clearTimeout(timer);
      leave();
    };
    work.then(
      (value) => {
        settle();
        resolve(value);
      },
      (error: unknown) => {
        settle();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}

export class TimeLimitError extends Error {
  override readonly name = "TimeLimitError";
  readonly code = "ETIMEDOUT";

  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds / 1000} s`);
  }
}

/** "EACCES" and the like; undefined for what is not an error of the system. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** What `work` gives, or undefined where it takes more than so many milliseconds; it goes on then, unheard. */
export async function inTime<T>(work: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  work.catch(() => undefined);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
