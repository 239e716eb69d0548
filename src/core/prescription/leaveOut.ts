import { planDrop, roomInTime } from "../report/fileChoice";
import type { GaugeReport } from "../report/gaugeReport";
import type { LeaveOut } from "./prescription";

/**
 * The fewest tokens to leave out, of the least worth first, so that prompt and answer fit a slot of so many tokens, and the
 * wait what the user has patience for. Undefined where nothing has to, or where it does not do.
 */
export function leaveOutFor(report: GaugeReport, nCtxPerSlot: number): LeaveOut | undefined {
  const { acceptance } = report;
  const patient = roomInTime(report) + Math.max(1, acceptance.answerReserve);
  const plan = planDrop({
    ...report,
    acceptance: { ...acceptance, nCtxPerSlot: Math.min(nCtxPerSlot, patient) },
  });
  if (plan?.kind !== "drop" || plan.tokensLeft <= 0) return undefined;
  const files = plan.files.map(({ label, path, tokens }) => ({ label, path, tokens }));
  const sent = report.tokens.files.length - (report.leftOut?.length ?? 0);
  return files.length < sent ? { files, tokens: plan.tokensDropped } : undefined;
}
