import { isRepeated, targetOf, type LadderPlan } from "../plan/plan";
import type { LadderStep, StepPurpose } from "./record";

export interface PlannedStep {
  readonly tokens: number;
  readonly run: number;
  readonly purpose: StepPurpose;
}

/** Lengths of one run, growing. The first run climbs the whole ladder, the others read what is repeated cold. */
export function chainOf(plan: LadderPlan, run: number): readonly PlannedStep[] {
  const target = targetOf(plan);
  const climb = [
    { tokens: plan.baseTokens, run, purpose: "base" as const },
    ...plan.rungs.map((tokens) => ({
      tokens,
      run,
      purpose: tokens === target ? ("target" as const) : ("curve" as const),
    })),
  ];
  if (run > 1) return climb.filter(({ tokens }) => isRepeated(plan, tokens));
  return [
    ...climb,
    // growing into a length can work where reading it cold does not
    ...(plan.repetitions === 1 ? [{ tokens: target, run, purpose: "confirmation" as const }] : []),
  ];
}

export function plannedSteps(plan: LadderPlan): readonly PlannedStep[] {
  return Array.from({ length: plan.repetitions }, (_, i) => chainOf(plan, i + 1)).flat();
}

/** Whether a stored step is this one, and brought a result. */
export const isDone = (planned: PlannedStep, steps: readonly LadderStep[]): boolean =>
  steps.some(
    (step) =>
      step.tokens === planned.tokens &&
      step.run === planned.run &&
      step.purpose === planned.purpose &&
      step.failure === undefined,
  );

/** A step that was resumed stands twice: the later line is the one that counts. */
export function latest(steps: readonly LadderStep[]): readonly LadderStep[] {
  const same = (one: LadderStep, other: LadderStep): boolean =>
    one.tokens === other.tokens && one.run === other.run && one.purpose === other.purpose;
  return steps.filter((step, i) => !steps.slice(i + 1).some((later) => same(later, step)));
}
