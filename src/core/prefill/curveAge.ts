import { largest } from "../lists";
import type { DepthCurve } from "./depthCurve";
import { sessionSpread } from "./liveTimings";

/** Two clocks of one machine differ by less. */
export const clockMs = 120_000;

export interface CurveNow {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** When it was measured, milliseconds since the epoch; absent where nobody knows. */
  readonly measuredAt?: number | undefined;
  readonly sameBuild: boolean;
  /** The watch saw nothing else running meanwhile. */
  readonly undisturbed: boolean;
}

/** Standard deviation of ln(time) to expect between a curve and now; one rule for everything that predicts. */
export function spreadUntilNow({ now, measuredAt, ...rest }: CurveNow): number {
  // of the future: a clock was set back, and nobody knows the age
  const known = measuredAt !== undefined && measuredAt <= now + clockMs;
  const seconds = known ? largest([now - measuredAt], 0) / 1000 : Infinity;
  return sessionSpread({ seconds, ...rest });
}

/** The curve with a spread that covers what may have changed since it was measured. */
export const agedCurve = (curve: DepthCurve, age: CurveNow): DepthCurve => ({
  ...curve,
  spread: Math.hypot(curve.spread ?? 0, spreadUntilNow(age)),
});

/** Milliseconds since the epoch; undefined where the curve does not say when it was measured. */
export function measuredTime({ measuredAt }: Pick<DepthCurve, "measuredAt">): number | undefined {
  const time = measuredAt === undefined ? Number.NaN : Date.parse(measuredAt);
  return Number.isFinite(time) ? time : undefined;
}
