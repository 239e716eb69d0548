import type { DepthCurve } from "./depthCurve";

/** Seconds if the speed of the first span held for ever: what dividing by a short prompt's speed says. For contrast. */
export function naiveSeconds(curve: DepthCurve, tokens: number): number {
  const [first] = curve.points;
  return first === undefined ? Number.NaN : (tokens * first.seconds) / first.tokens;
}
