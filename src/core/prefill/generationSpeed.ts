import type { DepthCurve, GenerationPoint } from "./depthCurve";
import { largest } from "../lists";
import { normal80, quantile80 } from "./studentT";
import { median } from "../median";

/** Seconds per generated token at a depth, with the 80 % band; undefined where nobody measured near it. */
export interface GenerationCost {
  readonly secondsPerToken: number;
  readonly low: number;
  readonly high: number;
}

/**
 * How far a line through two or three depths is off (ln), half-width of 80 %: 30 public series of three and more depths
 * (test/fixtures/speed), each predicted from its shallow ones. @param octaves doublings beyond the deepest of them
 */
const formError = (octaves: number): number => 0.013 + 0.02 * octaves ** 1.5;

export function generationCost(
  { generation, spread = 0 }: Pick<DepthCurve, "generation" | "spread">,
  depth: number,
): GenerationCost | undefined {
  const secondsPerToken = generationSecondsPerToken(generation, depth);
  if (secondsPerToken === undefined) return undefined;
  const deepest = largest(
    generation.map((point) => point.depth),
    1024,
  );
  const octaves = Math.max(0, Math.log2(depth / deepest));
  const width = Math.hypot(formError(octaves), normal80 * spread, ownError(generation));
  return {
    secondsPerToken,
    low: secondsPerToken * Math.exp(-width),
    high: secondsPerToken * Math.exp(width),
  };
}

interface Knot {
  readonly at: number;
  readonly cost: number;
}

/**
 * What the generation speeds themselves scatter by (ln), half-width of 80 %: repeats at one depth around their middle,
 * and depths around the line through their neighbours.
 */
function ownError(points: readonly GenerationPoint[]): number {
  const knots = knotsOf(points);
  const costs = new Map(knots.map(({ at, cost }) => [at, cost]));
  const ofRepeats = points.map(({ depth, tokensPerSecond }) =>
    Math.log(1 / tokensPerSecond / (costs.get(depth) ?? 1 / tokensPerSecond)),
  );
  const freedom = points.length - knots.length;
  const ofLine = knots.slice(1, -1).map((knot, i) => {
    const [before, after] = [knots[i], knots[i + 2]];
    // a point and its two neighbours: half as much again as one point scatters by
    return before && after ? Math.log(knot.cost / between(before, after, knot.at)) / Math.sqrt(1.5) : 0;
  });
  const squares = [...ofRepeats, ...ofLine].reduce((sum, error) => sum + error ** 2, 0);
  const degrees = freedom + ofLine.length;
  return degrees === 0 ? 0 : quantile80(degrees) * Math.sqrt(squares / degrees);
}

/** Where it was measured, by depth: the middle of repeats. */
function knotsOf(points: readonly GenerationPoint[]): readonly Knot[] {
  const costs = new Map<number, number[]>();
  for (const point of points) {
    costs.set(point.depth, [...(costs.get(point.depth) ?? []), 1 / point.tokensPerSecond]);
  }
  return Array.from(costs, ([at, repeats]) => ({ at, cost: median(repeats) })).sort((p, q) => p.at - q.at);
}

const between = (before: Knot, after: Knot, depth: number): number =>
  before.cost + ((after.cost - before.cost) * (depth - before.at)) / (after.at - before.at);

/**
 * Seconds per generated token at a depth: linear in depth, because every step reads the whole cache once more. From
 * three depths on the slope leaves out depth 0, where sliding windows are not full yet.
 */
export function generationSecondsPerToken(
  points: readonly GenerationPoint[],
  depth: number,
): number | undefined {
  const knots = knotsOf(points);
  const [first, second] = knots;
  if (first === undefined) return undefined;
  if (second === undefined) return depth <= 2 * first.at || depth < 2048 ? first.cost : undefined;
  const right = knots.findIndex((k) => k.at >= depth);
  const after = knots[right];
  const before = knots[right - 1];
  if (after !== undefined && before !== undefined) {
    return between(before, after, depth);
  }
  if (right === 0) return first.cost;
  const tail = knots.length < 3 ? knots : knots.slice(Math.max(1, Math.floor(knots.length / 2) - 1));
  const mean = tail.reduce((s, k) => s + k.at, 0) / tail.length;
  const level = tail.reduce((s, k) => s + k.cost, 0) / tail.length;
  const reach = tail.reduce((s, k) => s + (k.at - mean) ** 2, 0);
  const slope = tail.reduce((s, k) => s + (k.at - mean) * (k.cost - level), 0) / Math.max(reach, 1e-9);
  return level + Math.max(0, slope) * (depth - mean);
}
