import { say } from "../../core/text";
import type { EstimateRequest } from "../../app/estimates";
import type { EstimateOutcome, Gauge } from "./gauge";
import { showingProgress } from "../editor/screen";
import { localized } from "../editor/vscodeText";
import { countingProgressText } from "../../core/report/gaugeState";
import { inBackground } from "../editor/background";

const patienceMs = 1000;

/** Runs an estimate. Where it takes longer than a second and nothing else shows it, a notification does, with a cancel. */
export async function runEstimate(
  gauge: Gauge,
  request: EstimateRequest,
  isShown: () => boolean,
): Promise<EstimateOutcome> {
  const outcome = gauge.estimate(request);
  const timer = setTimeout(() => {
    if (!isShown()) inBackground(showProgress(gauge, request.label, outcome));
  }, patienceMs);
  try {
    return await outcome;
  } finally {
    clearTimeout(timer);
  }
}

async function showProgress(gauge: Gauge, label: string, outcome: Promise<unknown>): Promise<void> {
  await showingProgress(localized(say`Counting the tokens of ${label}`), async (progress, cancelled) => {
    const cancel = (): void => gauge.cancel();
    cancelled.addEventListener("abort", cancel);
    const onChange = gauge.onDidChange((state) => {
      if (state.status !== "counting") return;
      progress.report({
        message: localized(countingProgressText(state.progress)),
      });
    });
    try {
      await outcome;
    } finally {
      cancelled.removeEventListener("abort", cancel);
      onChange.dispose();
    }
  });
}
