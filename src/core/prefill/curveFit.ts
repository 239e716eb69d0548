import type { CurvePoint, DepthCurve } from "./depthCurve";
import { isKneeProne } from "./kneeProne";
import { largest, smallest } from "../lists";

/** Mean cost of a token at the mid-point of one measured span. */
export interface Knot {
  /** Mid-point of the span, tokens. */
  readonly position: number;
  readonly secondsPerToken: number;
  /** Tokens in the span. */
  readonly tokens: number;
}

/**
 * Cost of a token at position x: the measured profile up to the last knot, and `a + b·x + c·(x − p)·(x − q)` behind
 * it, where `[p, q]` is `bendBetween`.
 * A span's mean cost stands at its mid-point, which is exact for a cost linear in x.
 */
export interface CurveFit {
  readonly knots: readonly Knot[];
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
  /** Relative scatter of the points around the line (standard deviation). */
  readonly noise: number;
  /** Knots the line rests on, and what is needed for the standard error of its slope. */
  readonly tail: { readonly knots: number; readonly mean: number; readonly slopeError: number };
}

/** Repeats of one shape inside a run differ by 0.24 % (median of 99 public repeated points). */
const leastNoise = 0.0024;
/** Assumed of single spans where too few knots show their scatter. */
const unseenNoise = 0.006;
/** A handful of tokens at the end of a prompt costs a whole step: their cost per token is another thing. */
const smallBatch = 64;
/** Knots before this part of the probed depth say nothing about the slope behind it: warm-up, sliding windows. */
const tailStart = 0.25;
/** The same where the cost bends up inside the probe. */
const kneeTailStart = 0.6;
/** Part of the curvature that the next stretch of knee-prone series really had (0.33 and 0.49 in two series). */
const damping = 0.4;
/** Probes that end before this depth show no bend. */
const shallowest = 24_576;
/** Up to this many knots a bend is continued as a parabola; with more, the slope of the last ones shows it. */
const fewKnots = 6;
/** A token costs at least this part of the first knot's cost, inside its span and before anything was measured. */
const leastInside = 0.5;
const leastBefore = 0.1;
/** Prompts of so many lengths from one depth are a series of totals, not spans of their own. */
const seriesOfTotals = 3;
/** A total says something about the tokens behind the one before it when it is at least this much longer. */
const longer = 1.25;
/** A deep point this far above the line of the shallower ones is a bend, not noise. */
const bendGate = 0.06;

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
  const bend = bendOf(knots) ?? (isKneeProne(curve.key) ? dampedBend(knots) : undefined);
  return {
    knots,
    start,
    end,
    ...(bend ?? { a: line.a, b: line.b, c: 0, bendBetween: [0, 0] }),
    noise: Math.max(leastNoise, line.scatter),
    tail: { knots: tail.length, mean: line.mean, slopeError: line.slopeError },
  };
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

/** Seconds for the tokens at positions [from, to): the integral of the cost. */
export function secondsBetween(fit: CurveFit, from: number, to: number): number {
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

/**
 * Spans as knots in order of position: repeats of one span become their median, and a span that covers several others
 * (a whole prompt beside its chunks) is left out, because the chunks say more.
 */
function toKnots(points: readonly CurvePoint[]): Knot[] {
  const spans = new Map<string, CurvePoint[]>();
  for (const point of points) {
    const name = `${point.depth}+${point.tokens}`;
    const repeats = spans.get(name);
    if (repeats === undefined) spans.set(name, [point]);
    else repeats.push(point);
  }
  const single = Array.from(spans.values(), (repeats): CurvePoint => {
    const [{ depth, tokens } = { depth: 0, tokens: 1 }] = repeats;
    return { depth, tokens, seconds: median(repeats.map((p) => p.seconds)) };
  });
  const all = apart(single)
    .map((span): CurvePoint & { readonly middle: number } => ({
      ...span,
      middle: span.depth + span.tokens / 2,
    }))
    .sort((p, q) => p.middle - q.middle);
  const usual = median(all.map((span) => span.tokens));
  const scrap = (span: CurvePoint): boolean => span.tokens < smallBatch && span.tokens < usual / 4;
  const covers = (span: CurvePoint): boolean =>
    whole.filter(
      (o) => o.tokens < span.tokens && o.middle >= span.depth && o.middle < span.depth + span.tokens,
    ).length >= 2;
  const whole = all.filter((span) => !scrap(span));
  const finest = whole.length > 400 ? whole : whole.filter((span) => !covers(span));
  const knots: Knot[] = [];
  for (const span of finest) {
    const previous = knots.at(-1);
    const knot = { position: span.middle, secondsPerToken: span.seconds / span.tokens, tokens: span.tokens };
    if (previous !== undefined && knot.position - previous.position < 1) {
      knots[knots.length - 1] = {
        ...knot,
        secondsPerToken: (previous.secondsPerToken + knot.secondsPerToken) / 2,
      };
    } else {
      knots.push(knot);
    }
  }
  return knots;
}

/**
 * Whole prompts of several lengths from one depth (`-p 512,4096,16384`, a cold prompt for every length) taken apart: what
 * each took beyond the shorter one is the cost of its last tokens. Whatever a request costs by itself falls out.
 */
function apart(spans: readonly CurvePoint[]): readonly CurvePoint[] {
  const byDepth = new Map<number, CurvePoint[]>();
  for (const span of spans) {
    const group = byDepth.get(span.depth);
    if (group === undefined) byDepth.set(span.depth, [span]);
    else group.push(span);
  }
  return Array.from(byDepth.values()).flatMap((group): readonly CurvePoint[] => {
    const totals = group.filter((span) => span.tokens >= smallBatch);
    if (totals.length < seriesOfTotals) return group;
    const [first, ...rest] = totals.toSorted((p, q) => p.tokens - q.tokens);
    if (first === undefined) return group;
    const parts = [first];
    let before = first;
    for (const total of rest) {
      const tokens = total.tokens - before.tokens;
      const seconds = total.seconds - before.seconds;
      if (total.tokens < longer * before.tokens || seconds <= 0) continue;
      parts.push({ depth: before.depth + before.tokens, tokens, seconds });
      before = total;
    }
    return parts;
  });
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

/** A first span that costs more than the next, deeper one is warm-up: the next request will not pay it again. */
function withoutWarmUp(knots: readonly Knot[]): readonly Knot[] {
  const [first, second, ...rest] = knots;
  if (first === undefined || second === undefined || rest.length === 0) return knots;
  return [
    { ...first, secondsPerToken: Math.min(first.secondsPerToken, second.secondsPerToken) },
    second,
    ...rest,
  ];
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

/** A parabola through the line of the shallower knots and the deepest one, where few knots show a bend. */
function bendOf(knots: readonly Knot[]): Pick<CurveFit, "a" | "b" | "c" | "bendBetween"> | undefined {
  const last = knots.at(-1);
  if (last === undefined || knots.length > fewKnots || !bendsUp(knots)) return undefined;
  const before = knots.filter((k) => k.position <= 0.55 * last.position);
  const [p, q] = before.slice(-2).map((k) => k.position);
  if (p === undefined || q === undefined) return undefined;
  const { a, b } = robustLine(before.slice(-2));
  const excess = last.secondsPerToken - (a + b * last.position);
  // scattered knots may lie above one line and below the other; a parabola downwards ends in negative times
  if (excess <= 0) return undefined;
  return { a, b, c: excess / ((last.position - p) * (last.position - q)), bendBetween: [p, q] };
}

/**
 * Where the cost is known to rise ever faster, part of the curvature of the last three knots is believed. Elsewhere a
 * free parabola through few points doubles the error.
 */
function dampedBend(knots: readonly Knot[]): ReturnType<typeof bendOf> {
  const [first, second, third] = knots.slice(-3);
  if (first === undefined || second === undefined || third === undefined || knots.length > fewKnots)
    return undefined;
  const slope = (from: Knot, to: Knot): number =>
    (to.secondsPerToken - from.secondsPerToken) / (to.position - from.position);
  const b = slope(second, third);
  const curvature = (b - slope(first, second)) / (third.position - first.position);
  if (curvature <= 0 || b <= 0) return undefined;
  return {
    a: third.secondsPerToken - b * third.position,
    b,
    c: damping * curvature,
    bendBetween: [second.position, third.position],
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((p, q) => p - q);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
