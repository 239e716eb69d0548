import { count, say } from "../text";
import { costAt, fitOf, secondsBetween } from "./curveFit";
import type { CurveFit } from "./curveFit";
import type { DepthCurve } from "./depthCurve";
import { generationCost } from "./generationSpeed";
import { isKneeProne } from "./kneeProne";
import type { Prediction, PredictionBasis } from "./prediction";
import { largest, smallest } from "../lists";
import { normal80, quantile80 } from "./studentT";

export interface PredictionQuery {
  /** Tokens of the prompt that are not in the cache. */
  readonly tokens: number;
  /** Tokens already in the cache. */
  readonly cached?: number;
}

/** Beyond this multiple of the probed depth no published series says how far off a line is. */
const furthest = 16;
const furthestOfTwoPoints = 8;
const furthestWhenKneeProne = 2;
const furthestOfOnePoint = 1.5;
/** Up to so many, one point more or less moves the line. */
const fewPoints = 6;
/** Half-width of a band (ln) that says nothing any more: ten times as long. */
const widest = Math.log(10);

/** Seconds to prefill, with the band that holds 8 times in 10, or why nobody can know. */
export function predict(curve: DepthCurve, query: PredictionQuery): Prediction {
  const { tokens, cached = 0 } = query;
  if (curve.points.length === 0) {
    return { known: false, reason: say`The curve has no prefill measurement yet.` };
  }
  const fit = fitOf(curve);
  const basis: PredictionBasis = {
    deepestDepth: fit.end,
    points: curve.points.length,
    ...(fit.warmUp !== undefined && { warmUp: fit.warmUp }),
  };
  const target = cached + tokens;
  const kneeProne = isKneeProne(curve.key);
  const limit = Math.floor(fit.end * furthestFactor(fit, kneeProne) * 1.005);
  if (target > limit) {
    return {
      known: false,
      reason: kneeProne
        ? say`Unknown beyond ${count(limit)} token[s]: on Vulkan with shared memory the cost can rise steeply beyond the probed depth of ${count(fit.end)} token[s]. Probe deeper.`
        : say`Unknown beyond ${count(limit)} token[s]: the curve was measured only to ${count(fit.end)} token[s], at ${count(fit.knots.length)} depth[s]. Probe deeper.`,
      basis,
    };
  }
  const generation = generationCost(curve, target);
  if (fit.knots.length < 2 && cached * furthestOfOnePoint < fit.start) {
    return {
      known: false,
      reason: say`Unknown below ${count(fit.start)} token[s]: the curve was not measured there. Also probe depth 0.`,
      basis,
    };
  }
  // Few tokens are bound by memory, not by arithmetic: reading them costs at least one step.
  const step = tokens > 0 ? (generation?.secondsPerToken ?? 0) : 0;
  const reading = Math.max(step, secondsBetween(fit, cached, target));
  const seconds = (curve.overheadSeconds ?? 0) + reading;
  const { slow, fast } = band(fit, { cached, target, kneeProne });
  const session = Math.hypot(normal80 * (curve.spread ?? 0), repeatError(fit));
  if (Math.hypot(slow, session) > widest) {
    return {
      known: false,
      reason: say`Unknown: the measurements scatter too much. Probe again on a quiet machine.`,
      basis,
    };
  }
  return {
    known: true,
    seconds,
    lowSeconds: seconds * Math.exp(-Math.hypot(fast, session)),
    highSeconds: seconds * Math.exp(Math.hypot(slow, session)),
    ...(generation !== undefined && {
      generationTokensPerSecond: 1 / generation.secondsPerToken,
      generationLowTokensPerSecond: 1 / generation.high,
      generationHighTokensPerSecond: 1 / generation.low,
    }),
    basis,
  };
}

function furthestFactor(fit: CurveFit, kneeProne: boolean): number {
  if (fit.knots.length < 2) return furthestOfOnePoint;
  if (kneeProne) return furthestWhenKneeProne;
  return fit.knots.length < 3 ? furthestOfTwoPoints : furthest;
}

/**
 * Half-widths of the 80 % band as ln(time): what the form missed on public series at that multiple of the probed depth,
 * what the scatter of the points says about the slope, and what two runs of the same thing differ by.
 */
function band(
  fit: CurveFit,
  { cached, target, kneeProne }: { cached: number; target: number; kneeProne: boolean },
): { readonly slow: number; readonly fast: number } {
  const total = Math.max(secondsBetween(fit, cached, target), Number.MIN_VALUE);
  const from = Math.max(cached, fit.end);
  const octaves = target > from ? Math.log2(target / fit.end) : 0;
  const points = fit.knots.length;
  const form = points < 3 ? 0.03 * octaves ** 1.9 : (points <= fewPoints ? 0.014 : 0.0085) * octaves ** 1.5;
  const slope =
    target > from
      ? ((target - from) *
          ((target + from) / 2 - fit.tail.mean) *
          fit.tail.slopeError *
          costAt(fit, fit.tail.mean)) /
        total
      : 0;
  const shortest = smallest(fit.knots.map((k) => k.tokens));
  const short = target - cached < shortest ? 0.15 * (1 - (target - cached) / shortest) : 0;
  // What one span scatters by evens out over many.
  const scatter = (1.28 * fit.noise) / Math.sqrt(Math.max(1, (target - cached) / shortest));
  const sides = Math.hypot(
    ...[form, bendError(fit, cached, target), 1.3 * slope, 0.026 * largestGap(fit), 0.005, short, scatter],
    unmeasuredBefore(fit, cached, target) / total,
  );
  return kneeProne
    ? { slow: Math.hypot(sides, 0.08 * octaves), fast: Math.hypot(sides, 0.02 * octaves) }
    : { slow: sides, fast: sides };
}

/**
 * What repeats of one span differ by (ln), other than by the noise of single spans: whatever made the machine slower one
 * time may do so the next time, however long the prompt is. Half-width of the 80 % band around a median of few.
 */
function repeatError({ repeats: { spread, freedom } }: CurveFit): number {
  return freedom === 0 ? 0 : quantile80(freedom) * spread * Math.sqrt(1 + Math.PI / 2 / (freedom + 1));
}

/**
 * How much of a bend goes on nobody can see from a few points (ln): part of what lies between a straight line behind the
 * last point and all of the curvature.
 */
function bendError(fit: CurveFit, cached: number, target: number): number {
  const seconds = (its: Pick<CurveFit, "a" | "b" | "c" | "bendBetween">): number =>
    secondsBetween({ ...fit, ...its }, cached, target);
  const { a, b, bendBetween } = fit;
  if (target <= fit.end) return 0;
  if (fit.fullBend > 0) {
    return (
      0.25 * Math.log(seconds({ a, b, bendBetween, c: fit.fullBend }) / seconds({ a, b, bendBetween, c: 0 }))
    );
  }
  const [before, last] = fit.knots.slice(-2);
  if (fit.knots.length < 3 || fit.knots.length > 8 || before === undefined || last === undefined) return 0;
  const steep = (last.secondsPerToken - before.secondsPerToken) / (last.position - before.position);
  const other = { a: last.secondsPerToken - steep * last.position, b: steep, c: 0, bendBetween } as const;
  return steep <= 0 ? 0 : 0.3 * Math.abs(Math.log(seconds(other) / seconds(fit)));
}

/**
 * Seconds by which the tokens before the first measured one may be off: by the line of two deep points they cost less
 * than those points, and how much less nobody looked at.
 */
function unmeasuredBefore(fit: CurveFit, cached: number, target: number): number {
  const [first] = fit.knots;
  const until = Math.min(fit.start, target);
  if (first === undefined || cached >= until) return 0;
  const fall = Math.log(first.secondsPerToken / costAt(fit, cached));
  return 0.3 * Math.max(0, fall) * secondsBetween(fit, cached, until);
}

/** The largest part of the probed range that lies between two neighbouring knots. */
function largestGap({ knots, end }: CurveFit): number {
  return largest(knots.map((k, i) => k.position - (knots[i - 1]?.position ?? 0))) / end;
}
