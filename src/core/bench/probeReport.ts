import type { DepthCurve } from "../prefill/depthCurve";
import { seconds, say, type Text } from "../text";
import type { Drift } from "./drift";
import type { MonitorReport } from "../monitor/monitorSample";
import type { CostStep } from "./costSteps";

/** Why a probe stopped before its plan was done; what it measured until then is in the curve. */
export type ProbeEnd = "finished" | "budget" | "cancelled" | "failed";

/** What a probe found, complete or not. */
export interface ProbeReport {
  readonly curve: DepthCurve;
  readonly plannedSeconds: number;
  readonly plannedTokens: number;
  readonly seconds: number;
  readonly ended: ProbeEnd;
  readonly monitor: MonitorReport;
  /** The same small measurement before and after, where the probe made one. */
  readonly drift?: Drift;
  /** Steps in the spans themselves, which need no watch to be seen. */
  readonly steps: readonly CostStep[];
  readonly warnings: readonly Text[];
}

export interface ProbeProgress {
  readonly phase: "preparing" | "feasibility" | "measuring" | "closing";
  /** 0 to 1 of the expected time, not of the tokens. */
  readonly share: number;
  readonly remainingSeconds: number;
  readonly depth: number;
}

/** How far a measurement is, in words. */
export function measurementProgressText({ phase, remainingSeconds }: ProbeProgress): Text {
  switch (phase) {
    case "preparing":
    case "feasibility":
      return say`Reading the first tokens to estimate the time; at most ${seconds(remainingSeconds)} in total.`;
    case "measuring":
      return say`${seconds(remainingSeconds)} left.`;
    case "closing":
      return say`Checking that nothing has changed in the meantime.`;
  }
}
