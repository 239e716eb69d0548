import type { GaugeReport } from "../../core/report/gaugeReport";
import type { Gauge } from "./gauge";
import type { Disposable } from "../editor/lifecycle";

/** Calls with every report once: the same one is published again when something else of the state changes. */
export function onNewReport(
  gauge: Pick<Gauge, "state" | "onDidChange">,
  listener: (report: GaugeReport) => void,
): Disposable {
  let revision: number | undefined;
  return gauge.onDidChange(() => {
    const { state } = gauge;
    if (state.status !== "ready" || state.report.revision === revision) return;
    revision = state.report.revision;
    listener(state.report);
  });
}
