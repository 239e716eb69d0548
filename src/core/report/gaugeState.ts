import { say, count, type Text } from "../text";
import type { GaugeReport } from "./gaugeReport";

export interface EstimateProgress {
  readonly stage: "listing" | "counting" | "judging";
  readonly filesDone: number;
  readonly filesFound: number;
  readonly tokens: number;
}

export interface Failure {
  readonly problem: Text;
  readonly remedy: Text;
}

/** What the gauge is doing. The last report stays on show while a newer one is made, or when making it failed. */
export type GaugeState =
  | { readonly status: "idle" }
  | { readonly status: "counting"; readonly progress: EstimateProgress; readonly last?: GaugeReport }
  | { readonly status: "ready"; readonly report: GaugeReport; readonly stale: boolean }
  | { readonly status: "failed"; readonly failure: Failure; readonly last?: GaugeReport };

/** The report a state shows, also while a newer one is made. */
export function reportOf(state: GaugeState): GaugeReport | undefined {
  switch (state.status) {
    case "idle":
      return undefined;
    case "ready":
      return state.report;
    case "counting":
    case "failed":
      return state.last;
  }
}

/** How far counting is, in words. */
export function countingProgressText({ filesDone, tokens }: EstimateProgress): Text {
  if (filesDone === 0) return say`Listing files …`;
  return say`${count(tokens)} token[s] in ${count(filesDone)} file[s] …`;
}
