import { median } from "../median";
import { fitCurve, secondsBetween, type CurveFit } from "../prefill/curveFit";
import type { DepthCurve } from "../prefill/depthCurve";
import { logRatio, otherDay, type RequestTiming } from "../prefill/liveTimings";
import { smallest } from "../lists";
import { normal80, quantile80 } from "../prefill/studentT";

/** How one setup's speed differs from day to day on this machine. */
export interface DaySpread {
  readonly days: number;
  /** Mean of ln(time) over the curve's, so that a lucky day is not taken for the usual one. */
  readonly center: number;
  /** Standard deviation of ln(time) to expect of another day, as wide as few days make it. */
  readonly spread: number;
}

/** One measurement of the setup. */
export interface DayRun {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly curve?: DepthCurve;
  readonly request?: RequestTiming;
}

const leastDays = 3;
/** So many days is the constant worth, which three occasions on one machine gave. */
const priorDays = 3;
const dayMs = 86_400_000;

/**
 * Learned from runs on three days or more, by the curve they are compared with. The days' variance and the prior's are
 * pooled by their degrees of freedom; another day differs from the mean of n by a factor √(1 + 1/n) more, and few
 * degrees of freedom widen the band as Student's t does.
 */
export function daySpread(curve: DepthCurve, runs: readonly DayRun[]): DaySpread | undefined {
  const fit = fitCurve(curve);
  const days = new Map<number, number[]>();
  for (const run of runs) {
    const ratio = ratioOf(fit, run);
    const day = Math.floor(run.at / dayMs);
    if (ratio !== undefined) days.set(day, [...(days.get(day) ?? []), ratio]);
  }
  const ratios = Array.from(days.values(), median);
  if (ratios.length < leastDays) return undefined;
  const center = ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
  const squares = ratios.reduce((sum, ratio) => sum + (ratio - center) ** 2, 0);
  const freedom = priorDays + ratios.length - 1;
  const deviation = Math.sqrt((priorDays * otherDay ** 2 + squares) / freedom);
  const few = quantile80(freedom) / normal80;
  return { days: ratios.length, center, spread: few * deviation * Math.sqrt(1 + 1 / ratios.length) };
}

/** ln of what a run took over what the curve says, as deep as both were measured. */
function ratioOf(fit: CurveFit, { curve, request }: DayRun): number | undefined {
  if (request !== undefined) return logRatio(fit, request);
  if (curve === undefined || curve.points.length === 0) return undefined;
  const other = fitCurve(curve);
  const until = smallest([fit.end, other.end]);
  return until < leastTokens
    ? undefined
    : Math.log(secondsBetween(other, 0, until) / secondsBetween(fit, 0, until));
}

const leastTokens = 2048;
