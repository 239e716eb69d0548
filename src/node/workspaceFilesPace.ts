/** A call to the file system that takes this long comes from a slow disk or network. */
const slowMs = 4;
const perSlowCall = 200;
const tooSlow = 3 * perSlowCall;

/**
 * Calls that answer at once (the page cache) are three to ten times cheaper made directly than through the thread pool.
 * After three slow ones in a few hundred calls the next few hundred go through the pool, so that a slow disk does
 * not stop the thread.
 */
export class Pace {
  private debt = 0;

  /** Asked before every call. */
  direct(): boolean {
    if (this.debt > 0) this.debt--;
    return this.isFast;
  }

  get isFast(): boolean {
    return this.debt < tooSlow - perSlowCall;
  }

  time<T>(work: () => T): T {
    const started = performance.now();
    try {
      return work();
    } finally {
      if (performance.now() - started > slowMs) this.debt = Math.min(this.debt + perSlowCall, tooSlow);
    }
  }
}
