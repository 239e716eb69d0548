import { largest, smallest } from "../lists";
import { median } from "../median";
import type { DepthCurve } from "./depthCurve";
import { isKneeProne } from "./kneeProne";
import { repeatsOf, toKnots, withoutWarmUp, type Knot, type Repeats } from "./knots";

/**
 * Cost of a token at position x: the measured profile up to the last knot, and `a + b·x + c·(x − p)·(x − q)` behind
 * it, where `[p, q]` is `bendBetween`.
 * A span's mean cost stands at its mid-point, which is exact for a cost linear in x.
 */
export interface CurveFit {
  readonly knots: readonly Knot[];
  /** Spans no other one overlaps, and what they took over what the profile gives them. */
  readonly measured: readonly { readonly start: number; readonly end: number; readonly scale: number }[];
  /** The shallowest token that was measured. */
  readonly start: number;
  /** Behind the deepest token that was measured. */
  readonly end: number;
  /** Seconds per token at position 0 of the tail's line. */
  readonly a: number;
  /** Seconds per token per token of depth. */
  readonly b: number;
  /** Seconds per token per squared token; 0 unless the deepest of few knots lies clearly above the line of the others. */
  readonly c: number;
  readonly bendBetween: readonly [number, number];
  /** What `c` would be if all of the curvature seen went on; 0 without a bend. */
  readonly fullBend: number;
  /** Relative scatter of the points around the line (standard deviation). */
  readonly noise: number;
  readonly repeats: Repeats;
  /** How much more a token of the first span cost than one of the next, deeper span, where that was so: 0.2 is 20 %. */
  readonly warmUp?: number;
  /** Knots the line rests on, and what is needed for the standard error of its slope. */
  readonly tail: { readonly knots: number; readonly mean: number; readonly slopeError: number };
}

/** Repeats of one shape inside a run differ by 0.24 % (median of 99 public repeated points). */
const leastNoise = 0.0024;
/** Assumed of single spans where too few knots show their scatter. */
const unseenNoise = 0.006;
/** Knots before this part of the probed depth say nothing about the slope behind it: warm-up, sliding windows. */
const tailStart = 0.25;
/** The same where the cost bends up inside the probe. */
const kneeTailStart = 0.6;
/** From here on a slower first span is said; below, it is noise. */
const worthSaying = 0.03;
/** Part of the curvature that the next stretch of knee-prone series really had (0.33 and 0.49 in two series). */
const damping = 0.4;
/** The same of bends elsewhere: 0.1 to 0.3 in public cases, and none in half of the series. */
const bendDamping = 0.2;
/** Probes that end before this depth show no bend. */
const shallowest = 24_576;
/** Up to this many knots a bend is continued as a parabola; with more, the slope of the last ones shows it. */
const fewKnots = 6;
/** A token costs at least this part of the first knot's cost, inside its span and before anything was measured. */
const leastInside = 0.5;
const leastBefore = 0.1;
/** A deep point this far above the line of the shallower ones is a bend, not noise. */
const bendGate = 0.06;

const fits = new WeakMap<DepthCurve, CurveFit>();

/** The fit of a curve, made once: a table, a picture and a search ask for hundreds of prompts. */
export function fitOf(curve: DepthCurve): CurveFit {
  const made = fits.get(curve) ?? fitCurve(curve);
  fits.set(curve, made);
  return made;
}

/**
 * Fits the prefill cost by depth. Relative least squares on the deeper three quarters of the probe, outliers
 * down-weighted, slope never negative.
 */
export function fitCurve(curve: DepthCurve): CurveFit {
  const measured = toKnots(curve.points);
  const start = smallest(curve.points.map((p) => p.depth));
  const end = largest(curve.points.map((p) => p.depth + p.tokens));
  const knots = withoutWarmUp(measured);
  const tail = tailOf(measured);
  const line = robustLine(tail);
  const bend = isKneeProne(curve.key)
    ? dampedBend(knots, damping)
    : knots.length <= fewKnots && bendsUp(knots)
      ? dampedBend(knots, bendDamping)
      : undefined;
  const [first, second] = measured;
  const fit: CurveFit = {
    knots,
    measured: [],
    start,
    end,
    ...(bend ?? { a: line.a, b: line.b, c: 0, bendBetween: [0, 0], fullBend: 0 }),
    repeats: repeatsOf(curve.points),
    ...(first &&
      second &&
      first.secondsPerToken > (1 + worthSaying) * second.secondsPerToken && {
        warmUp: first.secondsPerToken / second.secondsPerToken - 1,
      }),
    noise: Math.max(leastNoise, line.scatter),
    tail: { knots: tail.length, mean: line.mean, slopeError: line.slopeError },
  };
  return { ...fit, measured: measuredSpans(fit) };
}

function measuredSpans(fit: CurveFit): CurveFit["measured"] {
  const spans = fit.knots.map(({ position, tokens, secondsPerToken }) => ({
    ...{ start: position - tokens / 2, end: position + tokens / 2 },
    seconds: secondsPerToken * tokens,
  }));
  return spans.flatMap(({ start, end, seconds }, i) => {
    const overlaps = (spans[i - 1]?.end ?? 0) > start + 1 || (spans[i + 1]?.start ?? Infinity) < end - 1;
    return overlaps ? [] : [{ start, end, scale: seconds / integral(fit, start, end) }];
  });
}

/** Seconds per token at a position. */
export function costAt(fit: CurveFit, position: number): number {
  const { knots } = fit;
  const last = knots.at(-1);
  const first = knots[0];
  if (last === undefined || first === undefined) return 0;
  if (position > last.position) return beyond(fit, position);
  if (position <= first.position) {
    const second = knots[1];
    if (second === undefined) return first.secondsPerToken;
    const slope = (second.secondsPerToken - first.secondsPerToken) / (second.position - first.position);
    const least = position < fit.start ? leastBefore : leastInside;
    return Math.max(
      first.secondsPerToken * least,
      first.secondsPerToken - slope * (first.position - position),
    );
  }
  let low = 0;
  let high = knots.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((knots[middle]?.position ?? 0) <= position) low = middle;
    else high = middle;
  }
  const left = knots[low] ?? first;
  const right = knots[high] ?? last;
  const share = (position - left.position) / (right.position - left.position);
  return left.secondsPerToken + share * (right.secondsPerToken - left.secondsPerToken);
}

/**
 * Seconds for the tokens at positions [from, to): the integral of the cost. The whole of a measured span takes what was
 * measured, which the profile between mid-points misses where spans are wide and the cost is no line.
 */
export function secondsBetween(fit: CurveFit, from: number, to: number): number {
  let sum = integral(fit, from, to);
  for (const { start, end, scale } of fit.measured) {
    const left = Math.max(from, start);
    const right = Math.min(to, end);
    if (right > left) sum += (scale - 1) * integral(fit, left, right);
  }
  return sum;
}

function integral(fit: CurveFit, from: number, to: number): number {
  const last = fit.knots.at(-1)?.position ?? 0;
  const stops = [from, ...fit.knots.map((k) => k.position).filter((p) => p > from && p < to), to];
  let sum = 0;
  for (let i = 1; i < stops.length; i++) {
    const left = stops[i - 1] ?? 0;
    const right = stops[i] ?? 0;
    if (left >= last) {
      // Simpson's rule is exact for a parabola.
      const middle = beyond(fit, (left + right) / 2);
      sum += ((right - left) * (beyond(fit, left) + 4 * middle + beyond(fit, right))) / 6;
    } else {
      sum += ((right - left) * (costAt(fit, left) + costAt(fit, right))) / 2;
    }
  }
  return sum;
}

function beyond(fit: CurveFit, position: number): number {
  const [p, q] = fit.bendBetween;
  return fit.a + fit.b * position + fit.c * (position - p) * (position - q);
}

function tailOf(knots: readonly Knot[]): readonly Knot[] {
  if (knots.length < 3) return knots;
  const deepest = knots.at(-1)?.position ?? 0;
  const behind = (share: number): readonly Knot[] => {
    const tail = knots.slice(1).filter((k) => k.position >= share * deepest);
    return tail.length >= 2 ? tail : knots.slice(-2);
  };
  return bendsUp(knots) ? behind(kneeTailStart) : behind(tailStart);
}

/**
 * Whether the deepest knots lie clearly above the line of those in the first half of the probe. Shallow probes are never
 * called bent: there, warm-up and sliding windows that fill look the same.
 */
function bendsUp(knots: readonly Knot[]): boolean {
  const deepest = knots.at(-1)?.position ?? 0;
  if (deepest < shallowest) return false;
  const before = knots.slice(knots.length > fewKnots ? 1 : 0).filter((k) => k.position <= 0.55 * deepest);
  const last = knots.slice(knots.length > fewKnots ? -3 : -1);
  if (before.length < 2) return false;
  const line = robustLine(before);
  return last.every((k) => k.secondsPerToken > (1 + bendGate) * (line.a + line.b * k.position));
}

interface Line {
  readonly a: number;
  readonly b: number;
  readonly mean: number;
  readonly scatter: number;
  /** Standard error of the slope relative to the cost at `mean`, per token. */
  readonly slopeError: number;
}

/** Line through the knots by relative least squares with Huber weights. */
function robustLine(knots: readonly Knot[]): Line {
  let weights = knots.map(() => 1);
  let line = relativeLine(knots, weights);
  for (let round = 0; round < 8 && knots.length >= 5; round++) {
    const residuals = knots.map((k) => Math.abs(1 - (line.a + line.b * k.position) / k.secondsPerToken));
    const spread = 1.4826 * median(residuals) + 1e-9;
    weights = residuals.map((r) => Math.min(1, (1.5 * spread) / Math.max(r, 1e-12)));
    line = relativeLine(knots, weights);
  }
  const sum = knots.reduce((s, k) => s + (1 - (line.a + line.b * k.position) / k.secondsPerToken) ** 2, 0);
  const scatter = knots.length > 2 ? Math.sqrt(sum / (knots.length - 2)) : unseenNoise;
  const mean = knots.reduce((s, k) => s + k.position, 0) / Math.max(1, knots.length);
  const reach = Math.sqrt(knots.reduce((s, k) => s + (k.position - mean) ** 2, 0));
  const slopeError = reach > 0 ? Math.max(scatter, leastNoise) / reach : 0;
  return { ...line, mean, scatter, slopeError };
}

function relativeLine(
  knots: readonly Knot[],
  weights: readonly number[],
): { readonly a: number; readonly b: number } {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let y0 = 0;
  let y1 = 0;
  knots.forEach(({ position, secondsPerToken }, i) => {
    const w = (weights[i] ?? 1) / (secondsPerToken * secondsPerToken);
    s0 += w;
    s1 += w * position;
    s2 += w * position * position;
    y0 += w * secondsPerToken;
    y1 += w * position * secondsPerToken;
  });
  const determinant = s0 * s2 - s1 * s1;
  const flat = { a: y0 / s0, b: 0 };
  if (knots.length < 2 || determinant <= 1e-12 * s0 * s2) return flat;
  const b = (s0 * y1 - s1 * y0) / determinant;
  return b < 0 ? flat : { a: (y0 - b * s1) / s0, b };
}

/**
 * Behind a bend, the line through the last two knots, and part of the curvature of the last three. A free parabola through
 * few points doubles the error.
 */
function dampedBend(
  knots: readonly Knot[],
  part: number,
): Pick<CurveFit, "a" | "b" | "c" | "bendBetween" | "fullBend"> | undefined {
  const [first, second, third] = knots.slice(-3);
  if (first === undefined || second === undefined || third === undefined || knots.length > fewKnots)
    return undefined;
  const slope = (from: Knot, to: Knot): number =>
    (to.secondsPerToken - from.secondsPerToken) / (to.position - from.position);
  const b = slope(second, third);
  const curvature = (b - slope(first, second)) / (third.position - first.position);
  // scattered knots may lie above one line and below the other; a parabola downwards ends in negative times
  if (curvature <= 0 || b <= 0) return undefined;
  return {
    a: third.secondsPerToken - b * third.position,
    b,
    c: part * curvature,
    fullBend: curvature,
    bendBetween: [second.position, third.position],
  };
}
