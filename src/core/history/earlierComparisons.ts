import type { EarlierChange } from "../bench/acrossDays";
import type { ComparisonAnswer, ComparisonResult } from "../bench/comparison";
import type { SpeedKind } from "../bench/drift";
import { sameBuild } from "../launch/builds";
import { sameFlags } from "../llamaBench/speedSetup";
import type { CurveKey } from "../prefill/depthCurve";
import type { HistoryRecord } from "./historyRecord";

/** What is compared, on what. */
export interface ComparedPair extends Pick<ComparisonResult, "option" | "values" | "depth"> {
  readonly key: Pick<CurveKey, "model" | "build" | "flags">;
  readonly kind: SpeedKind;
}

/** What earlier runs of the same comparison found, oldest first; a run that could not judge found nothing. */
export function earlierChanges(
  records: readonly HistoryRecord[],
  { option, values, depth, key, kind }: ComparedPair,
): readonly EarlierChange[] {
  return records.flatMap(({ at, key: own, comparison }) => {
    const same =
      comparison !== undefined &&
      own !== undefined &&
      comparison.option === option &&
      comparison.values.every((value, i) => value === values[i]) &&
      comparison.depth === depth &&
      own.model === key.model &&
      sameFlags(own.flags, key.flags) &&
      (own.build === "" || key.build === "" || sameBuild(own.build, key.build));
    const change = same ? changeOf(comparison[kind]) : undefined;
    return change === undefined ? [] : [{ at, change }];
  });
}

/** Earlier versions kept only the ends of the interval. */
function changeOf(answer: ComparisonAnswer): number | undefined {
  if (answer.kind === "cannotJudge") return undefined;
  if (answer.change !== undefined) return answer.change;
  if (answer.kind === "noDifference") return 0;
  const size = (answer.lowPercent + answer.highPercent) / 200;
  return answer.kind === "faster" ? size : -size;
}
