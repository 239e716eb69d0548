import { median } from "../median";
import type { CurvePoint } from "./depthCurve";

/** Mean cost of a token at the mid-point of one measured span. */
export interface Knot {
  /** Mid-point of the span, tokens. */
  readonly position: number;
  readonly secondsPerToken: number;
  /** Tokens in the span. */
  readonly tokens: number;
}

/** A handful of tokens at the end of a prompt costs a whole step: their cost per token is another thing. */
const smallBatch = 64;
/** Prompts of so many lengths from one depth are a series of totals, not spans of their own. */
const seriesOfTotals = 3;
/** A total says something about the tokens behind a shorter one when it is at least this much longer. */
const longer = 1.25;

/**
 * Spans as knots in order of position: repeats of one span become their median, and a span that covers several others
 * (a whole prompt beside its chunks) is left out, because the chunks say more.
 */
export function toKnots(points: readonly CurvePoint[]): Knot[] {
  const single = Array.from(spansOf(points).values(), (repeats): CurvePoint => {
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
    const kept: CurvePoint[] = [];
    for (const total of totals.toSorted((p, q) => q.tokens - p.tokens)) {
      const next = kept.at(-1);
      if (next === undefined || (next.tokens >= longer * total.tokens && next.seconds > total.seconds))
        kept.push(total);
    }
    return kept.map((total, i) => {
      const before = kept[i + 1];
      if (before === undefined) return total;
      const { depth, tokens, seconds } = before;
      return { depth: depth + tokens, tokens: total.tokens - tokens, seconds: total.seconds - seconds };
    });
  });
}

/** A first span that costs more than the next, deeper one is warm-up: the next request will not pay it again. */
export function withoutWarmUp(knots: readonly Knot[]): readonly Knot[] {
  const [first, second, ...rest] = knots;
  if (first === undefined || second === undefined) return knots;
  return [
    { ...first, secondsPerToken: Math.min(first.secondsPerToken, second.secondsPerToken) },
    second,
    ...rest,
  ];
}

/** How much the same span varies: standard deviation of ln(time), and its degrees of freedom. */
export interface Repeats {
  readonly spread: number;
  readonly freedom: number;
}

/** Pooled over the spans that were measured several times; a long one says more about the next long one. */
export function repeatsOf(points: readonly CurvePoint[]): Repeats {
  let squares = 0;
  let weight = 0;
  let freedom = 0;
  for (const repeats of spansOf(points).values()) {
    if (repeats.length < 2) continue;
    const logs = repeats.map(({ seconds }) => Math.log(seconds));
    const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
    const [{ tokens } = { tokens: 0 }] = repeats;
    squares += tokens * logs.reduce((sum, log) => sum + (log - mean) ** 2, 0);
    weight += tokens * (repeats.length - 1);
    freedom += repeats.length - 1;
  }
  return { spread: weight === 0 ? 0 : Math.sqrt(squares / weight), freedom };
}

function spansOf(points: readonly CurvePoint[]): ReadonlyMap<string, readonly CurvePoint[]> {
  const spans = new Map<string, CurvePoint[]>();
  for (const point of points) {
    const name = `${point.depth}+${point.tokens}`;
    const repeats = spans.get(name);
    if (repeats === undefined) spans.set(name, [point]);
    else repeats.push(point);
  }
  return spans;
}
