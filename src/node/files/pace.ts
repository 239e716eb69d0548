/** A call to the file system that takes this long comes from a slow disk or network. */
const slowMs = 4;
const perSlowCall = 100;
/** The thread is not held longer at a time. */
const heldMs = 6;
const tooSlow = 3 * perSlowCall;

/**
 * Calls that answer at once (the page cache) are three to ten times cheaper made directly than through the thread pool.
 * After three slow ones in a hundred calls the next hundred go through the pool, so that a slow disk does not stop the
 * thread. A call may also be slow because something else had the processor: that happens less often.
 */
export class Pace {
  private debt = 0;
  private lastTurn = 0;

  /** Asked before every call. */
  direct(): boolean {
    if (this.debt > 0) this.debt--;
    return this.debt < tooSlow - perSlowCall;
  }

  /** Called between calls that are made directly: now and then others have their turn. */
  async turn(): Promise<void> {
    if (performance.now() - this.lastTurn < heldMs) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.lastTurn = performance.now();
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
