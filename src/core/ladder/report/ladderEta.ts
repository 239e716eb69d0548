import type { DepthCurve } from "../../prefill/depthCurve";
import { remainingPrefill, type RunningPrefill } from "../../prefill/liveEta";
import { secondsOf, stepCosts, type SecondsBand } from "../score/feasibility";
import type { LadderPlan } from "../plan/plan";
import { ladderCurveOf } from "../score/recommend";
import type { LadderStep } from "../score/record";
import { isDone, type PlannedStep } from "../score/steps";
import { largest } from "../../lists";

/** A ladder at work: what is done, and how far the prompt that is being read has come. */
export interface RunningLadder {
  readonly plan: LadderPlan;
  readonly done: readonly LadderStep[];
  readonly current: PlannedStep;
  readonly reading: RunningPrefill;
  /** A probe's; what the ladder has measured itself goes before it where it reaches as deep. */
  readonly curve?: DepthCurve;
}

/** Seconds until the last run of the plan is done; undefined where nothing measured reaches so far. */
export function remainingLadder(running: RunningLadder): SecondsBand | undefined {
  const { plan, done, current, reading, curve: probe } = running;
  const own = ladderCurveOf(done, { model: "", build: "", flags: "" });
  const curve = own !== undefined && deepest(own) >= (probe === undefined ? 0 : deepest(probe)) ? own : probe;
  const rest = remainingPrefill(reading, curve);
  if (!rest.known) return undefined;
  const later = stepCosts(plan).filter(({ step }) => !isSame(step, current) && !isDone(step, done));
  const after = curve === undefined ? undefined : secondsOf(later, curve);
  if (after === undefined) return later.length === 0 ? bandOf(rest) : undefined;
  const { low, likely, high } = bandOf(rest);
  return { low: low + after.low, likely: likely + after.likely, high: high + after.high };
}

const bandOf = (rest: {
  readonly lowSeconds: number;
  readonly seconds: number;
  readonly highSeconds: number;
}): SecondsBand => ({ low: rest.lowSeconds, likely: rest.seconds, high: rest.highSeconds });

const deepest = (curve: DepthCurve): number =>
  largest(
    curve.points.map(({ depth, tokens }) => depth + tokens),
    0,
  );

const isSame = (one: PlannedStep, other: PlannedStep): boolean =>
  one.tokens === other.tokens && one.run === other.run && one.purpose === other.purpose;
