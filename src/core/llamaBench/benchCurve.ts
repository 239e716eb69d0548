import type { CurveKey, CurvePoint, DepthCurve, GenerationPoint } from "../prefill/depthCurve";
import type { BenchRow } from "./benchRow";

/** One curve per key: rows of different models, builds, flags or devices are never mixed. */
export function curvesOf(rows: readonly BenchRow[]): readonly DepthCurve[] {
  const groups = new Map<string, { key: CurveKey; points: CurvePoint[]; generation: GenerationPoint[] }>();
  for (const row of rows) {
    const name = JSON.stringify(row.key);
    const group = groups.get(name) ?? { key: row.key, points: [], generation: [] };
    groups.set(name, group);
    const { depth, promptTokens, generatedTokens, samples } = row;
    if (generatedTokens === 0) {
      for (const seconds of samples) group.points.push({ depth, tokens: promptTokens, seconds });
    } else if (promptTokens === 0) {
      for (const seconds of samples)
        group.generation.push({ depth, tokensPerSecond: generatedTokens / seconds });
    }
  }
  return Array.from(groups.values(), ({ key, points, generation }) => ({
    key,
    points: points.sort((p, q) => p.depth - q.depth || p.tokens - q.tokens),
    generation: generation.sort((p, q) => p.depth - q.depth),
  })).filter((curve) => curve.points.length > 0 || curve.generation.length > 0);
}
