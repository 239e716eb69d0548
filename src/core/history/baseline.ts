import { costAt, fitCurve } from "../prefill/curveFit";
import { differingFields, type CurveKey } from "../prefill/depthCurve";
import { generationSecondsPerToken } from "../prefill/generationSpeed";
import { count, percent, say } from "../text";
import type { Text } from "../text";
import type { HistoryRecord } from "./historyRecord";

/** A baseline beside a later run, at the depths both have measured. */
export interface BaselineComparison {
  /** Fields of the key that are not the same; with more than one no single cause can be named. */
  readonly differs: readonly string[];
  readonly rows: readonly BaselineRow[];
  readonly sentence: Text;
}

export interface BaselineRow {
  readonly depth: number;
  /** Change of the time per token, later run over baseline minus 1; positive is slower. */
  readonly prefillChange: number;
  readonly generationChange?: number;
}

/** A run that later ones can be compared with. */
export interface RecordedBaseline {
  readonly id: string;
  readonly label: string;
  /** Model, flags and build it was measured with. */
  readonly key: CurveKey;
  /** When it was measured; milliseconds since the epoch. */
  readonly at: number;
}

/** The baselines of a history, newest first. */
export function recordedBaselines(records: readonly HistoryRecord[]): readonly RecordedBaseline[] {
  return records
    .flatMap(({ id, kind, label, at, curve }) =>
      kind === "baseline" && curve !== undefined ? [{ id, at, label: label ?? "", key: curve.key }] : [],
    )
    .toReversed();
}

/** What two days on one machine differ by: less is no news. */
const dayToDay = 0.12;

/** Undefined where one of the two has no curve. */
export function compareWithBaseline(
  baseline: HistoryRecord,
  later: HistoryRecord,
): BaselineComparison | undefined {
  if (baseline.curve === undefined || later.curve === undefined) return undefined;
  if (baseline.curve.points.length === 0 || later.curve.points.length === 0) return undefined;
  const [first, second] = [fitCurve(baseline.curve), fitCurve(later.curve)];
  const deepest = Math.min(first.end, second.end);
  const depths = [0, 0.25, 0.5, 1].map((share) => Math.round(share * deepest));
  const rows = depths.map((depth): BaselineRow => {
    const before = generationSecondsPerToken(baseline.curve?.generation ?? [], depth);
    const after = generationSecondsPerToken(later.curve?.generation ?? [], depth);
    return {
      depth,
      prefillChange: costAt(second, depth) / costAt(first, depth) - 1,
      ...(before !== undefined && after !== undefined && { generationChange: after / before - 1 }),
    };
  });
  const differs = differingFields(baseline.curve.key, later.curve.key);
  const change = rows.at(-1)?.prefillChange ?? 0;
  const what =
    Math.abs(change) <= dayToDay
      ? say`Prefill at ${count(deepest)} token[s] differs by ${percent(100 * change)}, within normal day-to-day variation.`
      : change > 0
        ? say`Prefill at ${count(deepest)} token[s] takes ${percent(100 * change)} longer than the baseline.`
        : say`Prefill at ${count(deepest)} token[s] takes ${percent(-100 * change)} less than the baseline.`;
  const disturbed = [baseline, later].some(({ monitor }) => monitor?.verdict === "contaminated");
  const compared =
    differs.length > 1
      ? say`${what} ${differs.join(", ")} changed at once; no single one can be named as the cause.`
      : what;
  const sentence = disturbed
    ? say`${compared} The machine was disturbed during one of the two, which may be the only cause.`
    : compared;
  return { differs, rows, sentence };
}
