import { median } from "../median";
import { fitCurve, secondsBetween } from "./curveFit";
import type { CurveFit } from "./curveFit";
import type { CurvePoint, DepthCurve } from "./depthCurve";

/** A prompt that was really read: `tokens` behind `cached` tokens of the cache took `seconds` (`timings` of a reply). */
export interface RequestTiming {
  readonly cached: number;
  readonly tokens: number;
  readonly seconds: number;
  /** Spans of the request in order of depth, where its progress was seen. */
  readonly spans?: readonly CurvePoint[];
  /** Timings from a disturbed machine are kept but never learned from. */
  readonly disturbed?: boolean;
}

export interface RefinedCurve {
  /** The curve at today's speed, with what requests showed behind its deepest point. */
  readonly curve: DepthCurve;
  /** Today's time over the curve's. One number explains most of the difference between two days. */
  readonly factor: number;
  readonly requests: number;
}

/** Requests with fewer tokens than this say something about overhead, not about cost per token. */
const leastTokens = 512;
const remembered = 20;
/** Two runs with an unchanged machine between them differ by this much (standard deviation of ln). */
const sameSessionSpread = 0.02;

/** Refines a curve with the latest requests of its key, oldest first. */
export function refineCurve(curve: DepthCurve, timings: readonly RequestTiming[]): RefinedCurve {
  const usable = timings
    .filter((t) => t.disturbed !== true && t.tokens > 0 && t.seconds > 0)
    .slice(-remembered);
  const fit = fitCurve(curve);
  const overhead = curve.overheadSeconds ?? overheadOf(fit, usable);
  const ratios = usable.filter((t) => t.tokens >= leastTokens).flatMap((t) => ratio(fit, t, overhead));
  if (ratios.length === 0) return { curve, factor: 1, requests: 0 };
  const factor = Math.exp(median(ratios.slice(-5)));
  const scaled = curve.points.map((p) => ({ ...p, seconds: p.seconds * factor }));
  const deeper = usable.flatMap((t) => spansBehind(fit, t, overhead, factor));
  const spread =
    ratios.length < 3
      ? sameSessionSpread
      : Math.sqrt(ratios.reduce((s, r) => s + (r - Math.log(factor)) ** 2, 0) / (ratios.length - 1));
  return {
    curve: {
      ...curve,
      points: [...scaled, ...deeper].sort((p, q) => p.depth - q.depth || p.tokens - q.tokens),
      spread: Math.max(spread, sameSessionSpread),
      ...(overhead > 0 && { overheadSeconds: overhead }),
    },
    factor,
    requests: ratios.length,
  };
}

/** The same of one request; undefined where it says nothing about speed. */
export function logRatio(fit: CurveFit, timing: RequestTiming): number | undefined {
  if (timing.disturbed === true || timing.tokens < leastTokens || timing.seconds <= 0) return undefined;
  return ratio(fit, timing, 0)[0];
}

/** ln of measured over expected seconds, for the part of a request inside the measured depth. */
function ratio(fit: CurveFit, timing: RequestTiming, overhead: number): readonly number[] {
  const inside = (timing.spans ?? []).filter((s) => s.depth + s.tokens <= fit.end);
  if (inside.length > 0) {
    const expected = inside.reduce((sum, s) => sum + secondsBetween(fit, s.depth, s.depth + s.tokens), 0);
    return [Math.log(inside.reduce((sum, s) => sum + s.seconds, 0) / expected)];
  }
  const reading = timing.seconds - overhead;
  if (reading <= 0 || timing.cached >= fit.end) return [];
  return [Math.log(reading / secondsBetween(fit, timing.cached, timing.cached + timing.tokens))];
}

/** Seconds per request that the curve does not explain: the median excess of short requests. */
function overheadOf(fit: CurveFit, timings: readonly RequestTiming[]): number {
  const short = timings.filter((t) => t.tokens < leastTokens);
  if (short.length < 3) return 0;
  return Math.max(
    0,
    median(short.map((t) => t.seconds - secondsBetween(fit, t.cached, t.cached + t.tokens))),
  );
}

/** What a request showed behind the measured depth: the only evidence of a knee there is. */
function spansBehind(
  fit: CurveFit,
  timing: RequestTiming,
  overhead: number,
  factor: number,
): readonly CurvePoint[] {
  if (timing.spans !== undefined) return timing.spans.filter((s) => s.depth >= fit.end);
  const depth = Math.max(timing.cached, fit.end);
  const tokens = timing.cached + timing.tokens - depth;
  if (tokens < timing.tokens / 4 || tokens < leastTokens) return [];
  const before = depth > timing.cached ? factor * secondsBetween(fit, timing.cached, depth) : 0;
  const seconds = timing.seconds - overhead - before;
  return seconds > 0 ? [{ depth, tokens, seconds }] : [];
}

/** The prior; with runs on several days, see core/history/daySpread. */
export const otherDay = 0.16;
const otherBuild = 0.18;

/**
 * Standard deviation of ln(time) to expect between a curve and now. The same 128K prompt took 1056, 1291 and 1451 s on
 * three occasions on one machine: 0.16.
 */
export function sessionSpread(age: {
  readonly seconds: number;
  readonly sameBuild: boolean;
  readonly undisturbed: boolean;
}): number {
  if (!age.sameBuild) return otherBuild;
  if (age.seconds > 6 * 3600) return otherDay;
  return age.undisturbed ? 0.03 : 0.06;
}
