import { readFileSync } from "node:fs";
import path from "node:path";
import { parseDepthCurve } from "../../src/core/prefill/depthCurve";
import type { DepthCurve } from "../../src/core/prefill/depthCurve";

/** One published series; see test/fixtures/speed/README.md. */
export interface SpeedSeries {
  readonly id: string;
  readonly split: "dev" | "seed" | "negative";
  readonly architecture: string;
  readonly contiguous: boolean;
  readonly curve: DepthCurve;
  readonly totals: readonly (readonly [tokens: number, seconds: number])[];
}

interface SeriesFile {
  readonly id: string;
  readonly split: SpeedSeries["split"];
  readonly architecture: string;
  readonly contiguous: boolean;
  readonly key: unknown;
  readonly points: readonly (readonly [number, number, number])[];
  readonly generation: readonly (readonly [number, number])[];
  readonly totals?: readonly (readonly [number, number])[];
}

export function readSpeedSeries(): readonly SpeedSeries[] {
  const file = path.join(import.meta.dirname, "../fixtures/speed/series.json");
  const entries = JSON.parse(readFileSync(file, "utf8")) as readonly SeriesFile[];
  return entries
    .filter((entry) => entry.points.length > 0)
    .map(({ key, points, generation, totals = [], ...rest }) => ({
      ...rest,
      totals,
      curve: parseDepthCurve({
        key,
        points: points.map(([depth, tokens, seconds]) => ({ depth, tokens, seconds })),
        generation: generation.map(([depth, tokensPerSecond]) => ({ depth, tokensPerSecond })),
      }),
    }));
}

/** The curve a probe would have seen that went no deeper than `depth`. */
export function probedTo(curve: DepthCurve, depth: number): DepthCurve {
  return {
    ...curve,
    points: curve.points.filter((p) => p.depth <= depth),
    generation: curve.generation.filter((p) => p.depth <= depth),
  };
}

/** The curve a bench at these depths would have seen, where the series has them. */
export function probedAt(curve: DepthCurve, depths: readonly number[]): DepthCurve | undefined {
  const points = curve.points.filter((p) => depths.includes(p.depth));
  return points.length === depths.length ? { ...curve, points } : undefined;
}

/**
 * Seconds the whole prompt took: the sum of the spans where they follow each other from 0, else the integral of the
 * piecewise-linear cost between their mid-points.
 */
export function measuredTotal({ curve, contiguous }: SpeedSeries, tokens: number): number | undefined {
  const { points } = curve;
  const last = points.at(-1);
  if (last === undefined || last.depth + last.tokens < tokens) return undefined;
  if (contiguous) {
    return points
      .filter((p) => p.depth < tokens)
      .reduce((s, p) => s + (p.seconds * Math.min(p.tokens, tokens - p.depth)) / p.tokens, 0);
  }
  const knots = points.map((p) => ({ x: p.depth + p.tokens / 2, y: p.seconds / p.tokens }));
  const at = (x: number): number => {
    const right = Math.min(
      Math.max(
        1,
        knots.findIndex((k) => k.x >= x),
      ),
      knots.length - 1,
    );
    const [l, r] = [
      knots[right - 1],
      knots[knots.at(-1) && x > (knots.at(-1)?.x ?? 0) ? knots.length - 1 : right],
    ];
    if (l === undefined || r === undefined) return Number.NaN;
    return l.y + ((r.y - l.y) * (x - l.x)) / (r.x - l.x);
  };
  const stops = [0, ...knots.map((k) => k.x).filter((x) => x < tokens), tokens];
  return stops.slice(1).reduce((s, x, i) => s + ((x - (stops[i] ?? 0)) * (at(x) + at(stops[i] ?? 0))) / 2, 0);
}
