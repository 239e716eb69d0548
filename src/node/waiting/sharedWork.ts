import { abortReason, onAbort } from "../../core/signals";

/** Work that several wait for: one who gives up leaves it to the others, and with the last of them it is ended. */
export class SharedWork<T> {
  private readonly ending = new AbortController();
  private readonly work: Promise<T>;
  private waiting = 0;
  private settled = false;

  constructor(start: (signal: AbortSignal) => Promise<T>) {
    this.work = start(this.ending.signal).finally(() => (this.settled = true));
    this.work.catch(() => undefined);
  }

  /** It was ended because nobody waited: whoever wants its result begins anew. */
  get abandoned(): boolean {
    return this.ending.signal.aborted;
  }

  /** What the work gives or fails with, or the reason of the signal. */
  async result(signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    this.waiting++;
    let leave = (): void => undefined;
    const left = new Promise<never>((_, reject) => {
      leave = onAbort(signal, () => reject(abortReason(signal)));
    });
    try {
      return await Promise.race([this.work, left]);
    } finally {
      leave();
      this.waiting--;
      if (this.waiting === 0 && !this.settled) this.ending.abort();
    }
  }
}
