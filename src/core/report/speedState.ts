import type { LivePrefill } from "../prefill/livePrefill";
import type { Text } from "../text";
import type { BaselineComparison } from "../history/baseline";
import type { ComparisonResult } from "../bench/comparison";
import type { ComparisonConclusion } from "../bench/payingDepth";
import type { ProbeProgress } from "../bench/probeReport";
import type { RunSummary } from "../history/runSummary";

/** What surfaces show about speed besides the report: what is being measured, and what was. */
export interface SpeedState {
  readonly running?: RunningMeasurement;
  /** A prompt of somebody else's that the server reads now. */
  readonly live?: LivePrefill;
  /** Newest first. */
  readonly runs: readonly RunSummary[];
  /** Lines of the history that cannot be read: torn by a kill, or of a later version. */
  readonly unreadable: number;
  /** The last one: its results at every depth. */
  readonly comparison?: ShownComparison;
  readonly baseline?: BaselineComparison;
}

/** Results of one comparison, with what they say together. */
export interface ShownComparison {
  readonly results: readonly ComparisonResult[];
  readonly conclusions: readonly ComparisonConclusion[];
}

/** What the history tells of earlier runs. */
export type KnownRuns = Pick<SpeedState, "runs" | "unreadable">;

export const noSpeed: SpeedState = { runs: [], unreadable: 0 };

export interface RunningMeasurement {
  readonly title: Text;
  /** What it will cost, once that is known. */
  readonly plan?: Text;
  readonly progress?: ProbeProgress;
}

/** How a measurement tells what it will cost and how far it is. */
export interface MeasurementReport {
  readonly plan: (text: Text) => void;
  readonly progress: (progress: ProbeProgress) => void;
}
