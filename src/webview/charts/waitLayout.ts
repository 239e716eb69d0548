import { scaleLinear } from "d3-scale";
import type { Prediction } from "../../core/prefill/prediction";

export interface WaitLayout {
  readonly ticks: readonly { readonly x: number; readonly seconds: number }[];
  readonly low: number;
  readonly high: number;
  readonly mark: number;
}

/** Positions on a time axis from 0 to a little beyond the band. */
export function waitLayout(prediction: Prediction & { known: true }, width: number): WaitLayout {
  const x = scaleLinear([0, Math.max(1e-3, prediction.highSeconds * 1.1)], [0, width]).nice(5);
  return {
    ticks: x.ticks(5).map((value) => ({ x: x(value), seconds: value })),
    low: x(prediction.lowSeconds),
    high: x(prediction.highSeconds),
    mark: x(prediction.seconds),
  };
}
