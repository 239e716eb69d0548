import type { LivePrefill } from "../prefill/livePrefill";
import type { Text } from "../text";
import type { BaselineComparison } from "../history/baseline";
import type { HistoryKind, ComparisonResult } from "../history/historyRecord";
import type { MonitorVerdict } from "../bench/monitorSample";
import type { ProbeProgress } from "../bench/probeReport";

/** What surfaces show about speed besides the report: what is being measured, and what was. */
export interface SpeedState {
  readonly running?: RunningMeasurement;
  /** A prompt of somebody else's that the server reads now. */
  readonly live?: LivePrefill;
  /** Newest first. */
  readonly runs: readonly RunSummary[];
  /** Lines of the history that cannot be read: torn by a kill, or of a later version. */
  readonly unreadable: number;
  readonly comparison?: ComparisonResult;
  readonly baseline?: BaselineComparison;
}

export const noSpeed: SpeedState = { runs: [], unreadable: 0 };

export interface RunningMeasurement {
  readonly title: Text;
  /** What it will cost, once that is known. */
  readonly plan?: Text;
  readonly progress?: ProbeProgress;
}

/** A run of the history in one row. */
export interface RunSummary {
  readonly id: string;
  readonly kind: HistoryKind;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly label?: string;
  readonly model: string;
  readonly build: string;
  readonly flags: string;
  /** Deepest position (tokens) it reached. */
  readonly deepest?: number;
  /** Seconds per prompt token at the beginning and at the deepest point. */
  readonly first?: number;
  readonly last?: number;
  readonly generation?: { readonly depth: number; readonly tokensPerSecond: number };
  readonly verdict: MonitorVerdict;
  /** Who, when, how much; and what else there is to say. */
  readonly notes: readonly Text[];
}
