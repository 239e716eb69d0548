import { changedOptions, flashChoices, type LaunchChange } from "../launch/launchChange";
import { serverDefaults, type LaunchOptions } from "../launch/launchOptions";
import { speedFlags } from "../llamaBench/benchArguments";
import type { GaugeReport } from "../report/gaugeReport";
import type { Judged, WhatIfSituation } from "../report/whatIf";
import { say } from "../text";
import { rank, type Found } from "./search";

const types = ["f16", "q8_0"] as const;
const ubatches = [128, 256, 512, 1024, 2048, 4096];
/** A difference that runs on several days would not swallow. */
const worthwhile = 0.8;

/** Other options with which a prompt was measured to be read sooner; the fastest first. */
export function speedSteps(
  report: GaugeReport,
  { launch, curveOf }: WhatIfSituation,
  judge: (change: LaunchChange) => Judged | undefined,
): readonly Found[] {
  const { prefill } = report;
  if (curveOf === undefined || report.curves === undefined || !prefill.known) return [];
  const measured = new Set(report.curves.map(({ curve }) => curve.key.flags));
  const found: Found[] = [];
  for (const change of candidates(launch)) {
    const flags = speedFlags({ ...launch, ...change });
    if (flags === speedFlags(launch) || !measured.delete(flags)) continue;
    const judged = judge(change);
    if (judged?.prefill.known !== true || judged.prefill.seconds > worthwhile * prefill.seconds) continue;
    if (rank[judged.verdict.kind] > rank.slow) continue;
    found.push({
      steps: [
        {
          family: "ubatch",
          change,
          weight: judged.prefill.seconds / prefill.seconds,
          cost: usesLess(change) ? [say`Recall can get worse; a ladder shows whether it does.`] : [],
        },
      ],
      change,
      judged,
    });
  }
  return found;
}

const usesLess = ({ cacheTypeK, cacheTypeV }: LaunchChange): boolean =>
  cacheTypeK === "q8_0" || cacheTypeV === "q8_0";

/** Those that change nothing else: the fewest changes first. */
function candidates(launch: LaunchOptions): readonly LaunchChange[] {
  const { batchSize = serverDefaults.batchSize } = launch;
  const all = [undefined, ...ubatches.filter((size) => size <= batchSize)].flatMap((ubatchSize) =>
    [undefined, ...types].flatMap((cacheTypeK) =>
      [undefined, ...types].flatMap((cacheTypeV) =>
        [undefined, ...flashChoices].map((flashAttn): LaunchChange => ({
          ...(ubatchSize !== undefined && { ubatchSize }),
          ...(cacheTypeK !== undefined && { cacheTypeK }),
          ...(cacheTypeV !== undefined && { cacheTypeV }),
          ...(flashAttn !== undefined && { flashAttn }),
        })),
      ),
    ),
  );
  return all.sort((a, b) => changedOptions(a).length - changedOptions(b).length);
}
