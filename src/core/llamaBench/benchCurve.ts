import type { CurveKey, CurvePoint, DepthCurve, GenerationPoint } from "../prefill/depthCurve";
import type { BenchRow } from "./benchRow";

/** One curve per key: rows of different models, builds, flags or devices are never mixed. */
export function curvesOf(rows: readonly BenchRow[]): readonly DepthCurve[] {
  const groups = new Map<
    string,
    { key: CurveKey; points: CurvePoint[]; generation: GenerationPoint[]; times: string[] }
  >();
  for (const row of rows) {
    const name = JSON.stringify(row.key);
    const group = groups.get(name) ?? { key: row.key, points: [], generation: [], times: [] };
    groups.set(name, group);
    const time = row.raw["test_time"];
    if (time !== undefined && Number.isFinite(Date.parse(time))) group.times.push(time);
    const { depth, promptTokens, generatedTokens, samples } = row;
    if (generatedTokens === 0) {
      for (const seconds of samples) group.points.push({ depth, tokens: promptTokens, seconds });
    } else if (promptTokens === 0) {
      for (const seconds of samples)
        group.generation.push({ depth, tokensPerSecond: generatedTokens / seconds });
    }
  }
  return Array.from(groups.values(), ({ key, points, generation, times }) => ({
    key,
    ...measuredLast(times),
    points: points.sort((p, q) => p.depth - q.depth || p.tokens - q.tokens),
    generation: generation.sort((p, q) => p.depth - q.depth),
  })).filter((curve) => curve.points.length > 0 || curve.generation.length > 0);
}

function measuredLast(times: readonly string[]): Pick<DepthCurve, "measuredAt"> {
  const [last] = times.map((time) => new Date(time).toISOString()).toSorted((p, q) => (p < q ? 1 : -1));
  return last === undefined ? {} : { measuredAt: last };
}
