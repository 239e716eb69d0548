/** Nothing waits longer than so many times the budget, whatever the machine does. */
const atMost = 1.15;

/** Seconds a measurement may take; they begin when this is made. */
export class TimeBudget {
  readonly #began = performance.now() / 1000;

  constructor(readonly seconds: number) {}

  get spent(): number {
    return performance.now() / 1000 - this.#began;
  }

  get left(): number {
    return this.seconds - this.spent;
  }

  /** Seconds until what still runs is ended. */
  get untilEnd(): number {
    return atMost * this.seconds - this.spent;
  }
}

/** Looks at the machine before a measurement begins, one a second: a short one has no time for many. */
export const baselineSamples = (budgetSeconds: number): number =>
  Math.min(3, Math.max(1, Math.floor(budgetSeconds / 5)));
