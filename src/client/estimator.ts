import type { FileSource } from "../core/ports";
import type { EstimateProgress } from "../core/report/gaugeState";
import type { GaugeReport } from "../core/report/gaugeReport";

/** What is about to be sent. */
export interface EstimateRequest {
  /** Name of the whole on screen. */
  readonly label: string;
  /** Absolute paths of files and folders. */
  readonly roots: readonly string[];
  /** Text that is not, or not yet, on disk; absent: the files under the roots. */
  readonly source?: FileSource;
}

/** Makes a report; fails with a `UserError`, or with an abort where the signal fired. */
export type Estimator = (
  request: EstimateRequest,
  signal: AbortSignal,
  onProgress: (progress: EstimateProgress) => void,
) => Promise<GaugeReport>;
