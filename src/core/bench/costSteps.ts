import { median } from "../median";
import type { CurvePoint } from "../prefill/depthCurve";
import { largest, smallest } from "../lists";

/** A place in a sweep where the spans suddenly cost more than their predecessors' line says. */
export interface CostStep {
  /** Depth at which the first slow span starts. */
  readonly depth: number;
  /** How much slower the slow spans are, as a ratio (1.4: 40 % slower). */
  readonly ratio: number;
  /** Spans later returned to the old line: another program was at work. They stayed: the cost has a knee. */
  readonly kind: "interference" | "knee";
}

const history = 12;
const leastHistory = 5;
const slow = 1.1;

/**
 * Looks for two spans in a row that are more than 10 % slower than the line of the 12 before them. Needs no support of
 * the operating system; fires in 2 of 33 clean public sweeps (both have real steps), and at the second bad span of the
 * one known to be disturbed (antirez/ds4 issue 917).
 */
export function costSteps(spans: readonly CurvePoint[]): readonly CostStep[] {
  const costs = spans.map((s) => ({ x: s.depth + s.tokens / 2, y: s.seconds / s.tokens, depth: s.depth }));
  for (let i = leastHistory + 1; i + 1 < costs.length; i++) {
    const before = costs.slice(Math.max(1, i - history), i);
    if (before.length < leastHistory) continue;
    const line = theilSen(before);
    const ratios = costs.slice(i).map((c) => c.y / (line.a + line.b * c.x));
    const [first = 1, second = 1] = ratios;
    if (first <= slow || second <= slow) continue;
    const peak = largest(ratios);
    const cameBack = ratios.some(
      (_, k) => k > 1 && k + 3 <= ratios.length && ratios.slice(k, k + 3).every((r) => r < 1.05),
    );
    // Cost never falls with depth by itself: where it does, something else had raised it.
    const after = costs.slice(i + ratios.indexOf(peak)).map((c) => c.y);
    const fell = largest(after) > slow * smallest(after.slice(after.indexOf(largest(after))));
    return [
      {
        depth: costs[i]?.depth ?? 0,
        ratio: median(ratios.slice(0, 4)),
        kind: cameBack || fell ? "interference" : "knee",
      },
    ];
  }
  return [];
}

function theilSen(points: readonly { readonly x: number; readonly y: number }[]): {
  readonly a: number;
  readonly b: number;
} {
  const slopes = points.flatMap((p, i) => points.slice(i + 1).map((q) => (q.y - p.y) / (q.x - p.x)));
  const b = Math.max(0, median(slopes));
  return { a: median(points.map((p) => p.y - b * p.x)), b };
}
