import type { PromptCounters } from "./serverMetrics";
import type { SlotProgress } from "./slotProgress";

/** What a server says about its work at one moment; absent is what it does not tell. */
export interface ServerActivity {
  /** Seconds, by a clock that only goes forward. */
  readonly at: number;
  readonly slots?: readonly SlotProgress[];
  readonly counters?: PromptCounters;
}
