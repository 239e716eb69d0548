import { disturbedSpread } from "../prefill/disturbance";
import type { MonitorReport } from "./monitorSample";

/** The least a curve's spread is for what its watch saw; 0 where others took nothing, or nobody watched. */
export const spreadOfDisturbance = (
  monitor: Pick<MonitorReport, "verdict" | "events"> | undefined,
): number =>
  monitor?.verdict === "contaminated"
    ? disturbedSpread(monitor.events.map((event) => ("share" in event ? event.share : undefined)))
    : 0;
