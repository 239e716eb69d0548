import type { LaunchChange } from "../launch/launchChange";
import type { DeviceBudget, MemoryVerdict } from "../memory/budget/memoryReport";
import type { Prediction } from "../prefill/prediction";
import type { Verdict } from "../report/gaugeReport";
import type { Text } from "../text";

/** Files that would not be sent. */
export interface LeaveOut {
  readonly files: readonly { readonly label: string; readonly path: string; readonly tokens: number }[];
  /** Of these files with their headings. */
  readonly tokens: number;
}

/** One thing to change, and what is true then: by the same rules as the verdict. */
export interface Prescription {
  readonly change: Text;
  /** llama-server's arguments that make it; absent where the server stays as it is. */
  readonly flags?: readonly string[];
  readonly options?: LaunchChange;
  readonly leaveOut?: LeaveOut;
  readonly verdict: Verdict;
  readonly promptTokens: number;
  readonly nCtxPerSlot: number | null;
  readonly answerRoom: number | null;
  /** Absent where the model is not known. */
  readonly memory?: MemoryVerdict;
  readonly devices?: readonly PrescribedDevice[];
  readonly wait: Prediction;
  /** What it costs in quality, speed and comfort. */
  readonly cost: readonly Text[];
}

export type PrescribedDevice = Pick<
  DeviceBudget,
  "name" | "totalBytes" | "freeBytes" | "marginBytes" | "verdict"
>;

/** What one would think of, and why it does not help. */
export interface Impossible {
  readonly change: Text;
  readonly why: Text;
}

export interface Prescriptions {
  /** The cheapest first; what keeps the whole prompt before what leaves out some of it. */
  readonly offered: readonly Prescription[];
  readonly impossible: readonly Impossible[];
}

export const nothingPrescribed: Prescriptions = { offered: [], impossible: [] };
