import { changesAnswers } from "../../core/bench/comparisonArms";
import type { AgreementSample } from "../../core/bench/comparison";
import { optionsOf, type ComparisonChoice } from "../../core/bench/comparisonSetup";
import { conclusionsOf } from "../../core/bench/payingDepth";
import type { ComparisonPlan } from "../../core/bench/comparisonPlan";
import type { ProbeProgress } from "../../core/bench/probeReport";
import type { HistoryRecord } from "../../core/history/historyRecord";
import { knownOr, type Known } from "../../core/known";
import type { LaunchOptions } from "../../core/launch/launchOptions";
import type { MonitorReport } from "../../core/monitor/monitorSample";
import type { ShownComparison } from "../../core/report/speedState";
import type { Text } from "../../core/text";
import { recordsOfComparison, runComparison } from "../../node/llamaBench/llamaBenchCompare";
import { sampleAgreement } from "./sampleAgreement";

/** Where comparisons are kept and earlier ones found. */
export interface ComparisonHistory {
  read(signal: AbortSignal): Promise<{ readonly records: readonly HistoryRecord[] }>;
  append(record: HistoryRecord): Promise<void>;
}

export interface CompareRequest {
  /** The llama-bench to run. */
  readonly program: string;
  /** The llama-server whose answers are compared, found when it is needed. */
  readonly server: () => Promise<string>;
  readonly options: LaunchOptions;
  readonly choice: ComparisonChoice;
  /** What it will cost, where that is known. */
  readonly plan?: ComparisonPlan;
  readonly onProgress?: (progress: ProbeProgress) => void;
  /** Why answers were not compared. */
  readonly onUnchecked?: (why: Text) => void;
}

/** What was found, for each of the others at each depth, and from which depth on it pays. */
export interface ComparisonFound extends ShownComparison {
  readonly monitor: MonitorReport;
  readonly seconds: number;
}

/** Baseline, others, baseline again; the results are in the history, also where it was cut short. */
export async function compareAndRemember(
  request: CompareRequest,
  history: ComparisonHistory | undefined,
  signal: AbortSignal,
): Promise<ComparisonFound> {
  const { program, options, choice, plan, onProgress } = request;
  const began = performance.now() / 1000;
  const agreements = await agreementsOf(request, signal);
  const asked = {
    ...{ program, options, choice, agreements },
    timeoutSeconds: Math.max(300, 4 * (plan?.seconds ?? 3600)),
    records: (await history?.read(signal))?.records ?? [],
    ...(plan !== undefined && { plannedSeconds: plan.seconds }),
    ...(onProgress && { onProgress }),
  };
  const found = await runComparison(asked, signal);
  for (const record of recordsOfComparison(asked, found, Date.now())) await history?.append(record);
  const failed = found.runs.find((run) => run.failure !== undefined);
  if (found.runs.every((run) => run.rows.length === 0) && failed?.failure !== undefined) throw failed.failure;
  return {
    results: found.results,
    conclusions: conclusionsOf(found.results),
    monitor: found.monitor,
    seconds: performance.now() / 1000 - began,
  };
}

/** Undefined where it does not matter or cannot be found out; then the answer says that it was not checked. */
async function agreementsOf(
  { options, choice, server, onUnchecked }: CompareRequest,
  signal: AbortSignal,
): Promise<readonly (AgreementSample | undefined)[]> {
  const agreements: (AgreementSample | undefined)[] = [];
  for (const other of choice.others) {
    if (!optionsOf(other).some(changesAnswers)) {
      agreements.push(undefined);
      continue;
    }
    const sample: Known<AgreementSample> = await knownOr(
      server().then((program) =>
        sampleAgreement({ program, options, baseline: choice.baseline, other, timeoutSeconds: 600 }, signal),
      ),
    );
    if (!sample.known) onUnchecked?.(sample.why);
    agreements.push(sample.known ? sample.value : undefined);
  }
  return agreements;
}
