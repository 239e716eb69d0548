import type { BaselineComparison } from "../../core/history/baseline";
import type { VariedOption } from "../../core/bench/comparisonArms";
import type { ComparisonPlan } from "../../core/bench/comparisonPlan";
import type { HistoryFormat } from "../../core/history/historyFormats";
import type { ComparisonResult } from "../../core/bench/comparison";
import type { CurveKey } from "../../core/prefill/depthCurve";
import type { RequestTiming } from "../../core/prefill/liveTimings";
import type { MeasurementReport, KnownRuns } from "./speedBoard";
import type { ServerLook } from "./liveServer";

/** What is set today, option by option, on the setup a comparison starts from. */
export interface ComparisonSetup {
  /** Name of the model for people. */
  readonly model: string;
  readonly values: Readonly<Record<VariedOption["option"], string>>;
}

export interface ComparisonChoice {
  readonly varied: VariedOption;
  readonly values: readonly [baseline: string, other: string];
  readonly depth: number;
}

export interface BaselineChoice {
  readonly id: string;
  readonly label: string;
  /** Model, flags, build, and when it was measured (milliseconds since the epoch). */
  readonly key: CurveKey;
  readonly at: number;
}

/** What the commands about speed need of the world outside the editor. */
export interface SpeedOutside {
  readonly runs: (signal: AbortSignal) => Promise<KnownRuns>;
  /** Fails with the reason where nothing can be compared here: no llama-bench, no model, no room for a second copy. */
  readonly comparisonSetup: (signal: AbortSignal) => Promise<ComparisonSetup>;
  /** What a comparison costs by depth; measures the first tokens where no curve says. */
  readonly comparisonPrices: (signal: AbortSignal) => Promise<readonly ComparisonPlan[]>;
  readonly compare: (
    choice: ComparisonChoice,
    report: MeasurementReport,
    signal: AbortSignal,
  ) => Promise<ComparisonResult>;
  /** The newest run of the setup an estimate would use; undefined where there is none. */
  readonly currentRun: (
    signal: AbortSignal,
  ) => Promise<{ readonly id: string; readonly key: CurveKey } | undefined>;
  readonly recordBaseline: (runId: string, label: string, signal: AbortSignal) => Promise<void>;
  /** Newest first. */
  readonly baselines: (signal: AbortSignal) => Promise<readonly BaselineChoice[]>;
  readonly besideBaseline: (
    choice: { readonly baselineId: string; readonly runId: string },
    signal: AbortSignal,
  ) => Promise<BaselineComparison>;
  /** The setup of now as a key, where there is one to give to what is imported. */
  readonly currentKey: (signal: AbortSignal) => Promise<CurveKey | undefined>;
  /** Curves and points that were found in a file. */
  readonly importRuns: (
    file: string,
    key: CurveKey | undefined,
    signal: AbortSignal,
  ) => Promise<{ readonly curves: number; readonly points: number }>;
  /** How many runs were written. */
  readonly exportHistory: (format: HistoryFormat, file: string, signal: AbortSignal) => Promise<number>;
  readonly look: (counters: boolean, signal: AbortSignal) => Promise<ServerLook | undefined>;
  readonly learn: (timing: RequestTiming) => Promise<void>;
}
