import type { ProbeCallbacks } from "../../app/estimates";
import { measurementProgressText } from "../../core/bench/probeReport";
import { planText } from "../../core/bench/probePlan";
import type { ProbeReport } from "../../core/bench/probeReport";
import { foreignUseTexts } from "../../core/monitor/foreignUse";
import { count, say, seconds, type Text } from "../../core/text";
import { nothingShown, together } from "../../core/shown";
import { notify, showingProgress } from "../editor/screen";
import { localized } from "../editor/vscodeText";
import { largest } from "../../core/lists";
import { inBackground } from "../editor/background";

export type Probe = (callbacks: ProbeCallbacks, signal: AbortSignal) => Promise<ProbeReport>;

/** Runs a depth probe behind a notification that says what it will cost, how long it still takes, and can be cancelled. */
export async function runDepthProbe(probe: Probe): Promise<ProbeReport> {
  const report = await showingProgress(localized(say`Measuring prefill by depth`), (progress, cancelled) => {
    let done = 0;
    let plan = nothingShown;
    return probe(
      {
        onPlan: (planned) => (plan = localized(planText(planned))),
        onProgress: (step) => {
          const increment = Math.max(0, step.share * 100 - done);
          done += increment;
          const left = localized(measurementProgressText(step));
          progress.report({ increment, message: together([left, plan], " ") });
        },
      },
      cancelled,
    );
  });
  inBackground(notify("information", localized(summary(report))));
  return report;
}

function summary({ curve, seconds: took, monitor, warnings }: ProbeReport): Text {
  const [warning] = warnings;
  const [use] = foreignUseTexts(monitor);
  const told = measured(curve, took, monitor);
  const found = use === undefined || monitor.verdict !== "contaminated" ? told : say`${told} ${use}`;
  return warning === undefined ? found : say`${found} ${warning}`;
}

function measured(curve: ProbeReport["curve"], took: number, { verdict }: ProbeReport["monitor"]): Text {
  const deepest = largest(curve.points.map(({ depth, tokens }) => depth + tokens));
  const prefill = say`Prefill measured to ${count(deepest)} token[s] in ${seconds(took)}.`;
  switch (verdict) {
    case "clean":
      return prefill;
    case "drift":
      return say`${prefill} The machine itself changed in the meantime, so the interval is wider.`;
    case "unmonitored":
      return say`${prefill} The machine was not monitored in the meantime.`;
    case "contaminated":
      return say`${prefill} Other programs were running in the meantime, so the interval is wider.`;
  }
}
