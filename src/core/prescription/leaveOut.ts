import type { DepthCurve } from "../prefill/depthCurve";
import { predict } from "../prefill/predict";
import { planDrop } from "../report/fileChoice";
import type { GaugeReport } from "../report/gaugeReport";
import type { LeaveOut } from "./prescription";

/**
 * The fewest tokens to leave out, of the least worth first, so that prompt and answer fit a slot of so many tokens, and the
 * wait what the user has patience for. Undefined where nothing has to, or where it does not do.
 */
export function leaveOutFor(report: GaugeReport, nCtxPerSlot: number): LeaveOut | undefined {
  const { acceptance } = report;
  const patient = tokensInTime(report) + Math.max(1, acceptance.answerReserve);
  const plan = planDrop({
    ...report,
    acceptance: { ...acceptance, nCtxPerSlot: Math.min(nCtxPerSlot, patient) },
  });
  if (plan?.kind !== "drop" || plan.tokensLeft <= 0) return undefined;
  const files = plan.files.map(({ label, path, tokens }) => ({ label, path, tokens }));
  const sent = report.tokens.files.length - (report.leftOut?.length ?? 0);
  return files.length < sent ? { files, tokens: plan.tokensDropped } : undefined;
}

/** Tokens of the longest prompt that is read in the time the user has patience for; no limit where nothing was measured. */
function tokensInTime({ curve, wait, acceptance }: GaugeReport): number {
  const { patienceSeconds } = wait;
  if (curve === undefined || patienceSeconds === undefined) return Infinity;
  return longestWithin(curve, patienceSeconds, acceptance.promptTokens);
}

function longestWithin(curve: DepthCurve, seconds: number, most: number): number {
  const inTime = (tokens: number): boolean => {
    const prediction = predict(curve, { tokens });
    return !prediction.known || prediction.seconds <= seconds;
  };
  if (inTime(most)) return Infinity;
  let [low, high] = [0, most];
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (inTime(middle)) low = middle;
    else high = middle;
  }
  return low;
}
