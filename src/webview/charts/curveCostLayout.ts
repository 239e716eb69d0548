import { scaleLinear } from "d3-scale";
import { area, line } from "d3-shape";
import { costAt, fitCurve } from "../../core/prefill/curveFit";
import type { DepthCurve } from "../../core/prefill/depthCurve";
import { generationCost } from "../../core/prefill/generationSpeed";
import { largest } from "../../core/lists";

/** What one token costs at a depth. */
export interface CostMark {
  readonly x: number;
  readonly y: number;
  readonly depth: number;
  readonly secondsPerToken: number;
}

export interface CostLayout {
  /** SVG path data: what the predictions use. */
  readonly line: string;
  /** The 80 % band around it, where there is one. */
  readonly band?: string;
  readonly measured: readonly CostMark[];
  readonly depthTicks: readonly { readonly at: number; readonly value: number }[];
  /** Milliseconds per token. */
  readonly costTicks: readonly { readonly at: number; readonly value: number }[];
}

export type CostKind = "prefill" | "generation";

const samples = 60;
/** More would be one smear. */
const mostMarks = 160;

/** Cost of a token by depth, from 0 to `furthest`, in a box with its origin at the lower left; undefined without a measurement. */
export function costLayout(
  curve: DepthCurve,
  kind: CostKind,
  furthest: number,
  box: { readonly width: number; readonly height: number },
): CostLayout | undefined {
  const marks = measuredCosts(curve, kind);
  const cost = costOf(curve, kind);
  if (marks.length === 0 || cost === undefined) return undefined;
  const end = largest(
    marks.map(({ depth }) => depth),
    Math.max(1, furthest),
  );
  const points = Array.from({ length: samples + 1 }, (_, i) => (end * i) / samples).flatMap((depth) => {
    const found = cost(depth);
    return found === undefined ? [] : [{ depth, ...found }];
  });
  const top = largest(
    [
      ...points.map(({ high, secondsPerToken }) => high ?? secondsPerToken),
      ...marks.map((m) => m.secondsPerToken),
    ].map((seconds) => 1000 * seconds),
  );
  const x = scaleLinear([0, end], [0, box.width]);
  const y = scaleLinear([0, top * 1.05], [box.height, 0]).nice(4);
  const path = line<(typeof points)[number]>(({ depth }) => x(depth)).y(({ secondsPerToken }) =>
    y(1000 * secondsPerToken),
  );
  const band = area<(typeof points)[number]>(({ depth }) => x(depth))
    .y0(({ low = 0 }) => y(1000 * low))
    .y1(({ high = 0 }) => y(1000 * high));
  const every = Math.ceil(marks.length / mostMarks);
  return {
    line: path(points) ?? "",
    ...(points.every(({ low, high }) => low !== undefined && high !== undefined) && {
      band: band(points) ?? "",
    }),
    measured: marks
      .filter((_, i) => i % every === 0)
      .map((mark) => ({ ...mark, x: x(mark.depth), y: y(1000 * mark.secondsPerToken) })),
    depthTicks: x.ticks(4).map((value) => ({ at: x(value), value })),
    costTicks: y.ticks(4).map((value) => ({ at: y(value), value })),
  };
}

/** Mean cost of every measured span at its middle, or of every measured generation. */
function measuredCosts(
  { points, generation }: DepthCurve,
  kind: CostKind,
): readonly { readonly depth: number; readonly secondsPerToken: number }[] {
  return kind === "prefill"
    ? points.map(({ depth, tokens, seconds }) => ({
        depth: depth + tokens / 2,
        secondsPerToken: seconds / tokens,
      }))
    : generation.map(({ depth, tokensPerSecond }) => ({ depth, secondsPerToken: 1 / tokensPerSecond }));
}

interface CostAt {
  readonly secondsPerToken: number;
  readonly low?: number;
  readonly high?: number;
}

function costOf(curve: DepthCurve, kind: CostKind): ((depth: number) => CostAt | undefined) | undefined {
  if (kind === "generation") return (depth) => generationCost(curve, depth);
  if (curve.points.length === 0) return undefined;
  const fit = fitCurve(curve);
  return (depth) => ({ secondsPerToken: costAt(fit, depth) });
}
