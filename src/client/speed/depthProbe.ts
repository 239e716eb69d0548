import { ProgressLocation, window } from "vscode";
import type { ProbeCallbacks } from "../../app/estimates";
import { measurementProgressText } from "../../core/bench/measurementProgressText";
import { planText } from "../../core/bench/probePlan";
import type { ProbeReport } from "../../core/bench/probeReport";
import { count, say, seconds, type Text } from "../../core/text";
import { toAbortSignal } from "../editor/cancellation";
import { localized } from "../editor/vscodeText";

export type Probe = (callbacks: ProbeCallbacks, signal: AbortSignal) => Promise<ProbeReport>;

/** Runs a depth probe behind a notification that says what it will cost, how long it still takes, and can be cancelled. */
export async function runDepthProbe(probe: Probe): Promise<ProbeReport> {
  const report = await window.withProgress(
    {
      location: ProgressLocation.Notification,
      title: localized(say`Measuring prefill by depth`),
      cancellable: true,
    },
    (progress, token) => {
      let done = 0;
      let plan = "";
      return probe(
        {
          onPlan: (planned) => (plan = localized(planText(planned))),
          onProgress: (step) => {
            const increment = Math.max(0, step.share * 100 - done);
            done += increment;
            const left = localized(measurementProgressText(step));
            progress.report({ increment, message: [left, plan].filter((text) => text !== "").join(" ") });
          },
        },
        toAbortSignal(token),
      );
    },
  );
  void window.showInformationMessage(localized(summary(report)));
  return report;
}

function summary({ curve, seconds: took, monitor, warnings }: ProbeReport): Text {
  const [warning] = warnings;
  const found = measured(curve, took, monitor);
  return warning === undefined ? found : say`${found} ${warning}`;
}

function measured(curve: ProbeReport["curve"], took: number, { verdict }: ProbeReport["monitor"]): Text {
  const deepest = Math.max(...curve.points.map(({ depth, tokens }) => depth + tokens));
  const prefill = say`Prefill measured to ${count(deepest)} tokens in ${seconds(took)}.`;
  switch (verdict) {
    case "clean":
      return prefill;
    case "drift":
      return say`${prefill} The machine itself changed meanwhile, so the band is wider.`;
    case "unmonitored":
      return say`${prefill} Nothing watched the machine meanwhile.`;
    case "contaminated":
      return say`${prefill} Other programs were at work meanwhile, so the band is wider.`;
  }
}
