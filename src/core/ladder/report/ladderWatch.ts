import type { DepthCurve } from "../../prefill/depthCurve";
import type { PrefillProgress } from "../../prefill/liveEta";
import { remainingLadder } from "./ladderEta";
import type { LadderPlan } from "../plan/plan";
import type { LadderStep } from "../score/record";
import type { LadderProgress } from "./shownLadder";
import { isDone, plannedSteps, type PlannedStep } from "../score/steps";

/** Follows a running ladder from event to event, for whoever waits for it. */
export class LadderWatch {
  #current: PlannedStep | undefined;
  #events: PrefillProgress[] = [];
  #cached = 0;

  constructor(
    private readonly plan: LadderPlan,
    /** Grows while the ladder runs. */
    private readonly done: readonly LadderStep[],
    private readonly curve: DepthCurve | undefined,
  ) {}

  /** `progress.cached` tokens were there before; a step asks more than once, and only its first reading counts. */
  read(step: PlannedStep, progress: PrefillProgress & { readonly cached: number }): void {
    if (this.#current !== step) {
      this.#current = step;
      this.#events = [];
      this.#cached = progress.cached;
    }
    const last = this.#events.at(-1)?.processed ?? 0;
    if (progress.processed >= last) this.#events.push(progress);
  }

  get progress(): LadderProgress {
    const planned = plannedSteps(this.plan);
    const open = planned.filter((step) => !isDone(step, this.done));
    const current =
      this.#current !== undefined && !isDone(this.#current, this.done) ? this.#current : open[0];
    const reads = current === this.#current;
    const reading = {
      total: current?.tokens ?? 0,
      cached: reads ? this.#cached : 0,
      progress: reads ? this.#events : [],
    };
    const remaining =
      current === undefined
        ? undefined
        : remainingLadder({
            plan: this.plan,
            done: this.done,
            current,
            reading,
            ...(this.curve !== undefined && { curve: this.curve }),
          });
    return {
      tokens: current?.tokens ?? 0,
      run: current?.run ?? 1,
      processed: reads ? (this.#events.at(-1)?.processed ?? 0) : 0,
      steps: { done: planned.length - open.length, planned: planned.length },
      ...(remaining !== undefined && { remaining }),
    };
  }
}
