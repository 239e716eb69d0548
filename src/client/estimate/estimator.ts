import type { FileSource } from "../../core/files/files";
import type { EstimateProgress } from "../../core/report/gaugeState";
import type { GaugeReport } from "../../core/report/gaugeReport";

/** What is about to be sent. */
export interface EstimateRequest {
  /** Name of the whole on screen. */
  readonly label: string;
  /** Absolute paths of files and folders. */
  readonly roots: readonly string[];
  /** Text that is not, or not yet, on disk; absent: the files under the roots. */
  readonly source?: FileSource;
  /** Finds out, at the start of each estimate, what belongs to it now; `roots` then only say what to watch. */
  readonly renew?: (signal: AbortSignal) => Promise<Renewed>;
  /** Paths of files that are counted but do not go into the prompt. */
  readonly leftOut?: readonly string[];
}

export interface Renewed {
  readonly roots: readonly string[];
  readonly source?: FileSource;
}

/** "again": only files have changed since the last estimate; what is known of server and machine still holds. */
export type EstimateKind = "anew" | "again";

/** Makes a report; fails with a `UserError`, or with an abort where the signal fired. */
export type Estimator = (
  request: EstimateRequest,
  signal: AbortSignal,
  onProgress: (progress: EstimateProgress) => void,
  kind: EstimateKind,
) => Promise<GaugeReport>;
