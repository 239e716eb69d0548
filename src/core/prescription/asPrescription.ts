import { changeArguments, type LaunchChange } from "../launch/launchChange";
import { valueOf } from "../known";
import type { GaugeReport } from "../report/gaugeReport";
import type { Judged } from "../report/whatIf";
import { bytes, count, say, seconds, type Text } from "../text";
import type { LeaveOut, Prescription, PrescribedDevice } from "./prescription";
import type { Step } from "./steps";

export interface Prescribed {
  /** As it is. */
  readonly report: GaugeReport;
  /** As it would be. */
  readonly judged: Judged;
  readonly change?: LaunchChange;
  readonly leaveOut?: LeaveOut;
  readonly steps: readonly Step[];
}

/** What is shown of a change, with the figures it was judged by. */
export function asPrescription(prescribed: Prescribed): Prescription {
  const { judged, change, leaveOut } = prescribed;
  const { acceptance, prefill, verdict } = judged;
  const memory = valueOf(judged.memory);
  const flags = change && changeArguments(change);
  return {
    change: changeText(flags, leaveOut),
    ...(flags && { flags }),
    ...(change && { options: change }),
    ...(leaveOut && { leaveOut }),
    verdict,
    promptTokens: acceptance.promptTokens,
    nCtxPerSlot: acceptance.nCtxPerSlot,
    answerRoom: acceptance.answerRoom,
    ...(memory && { memory: memory.verdict, devices: memory.devices.map(deviceOf) }),
    wait: prefill,
    cost: costsOf(prescribed),
  };
}

function changeText(flags: readonly string[] | undefined, leaveOut: LeaveOut | undefined): Text {
  const written = flags === undefined ? undefined : flags.join(" ");
  if (leaveOut === undefined) return say`Start llama-server with ${written ?? ""}`;
  const [files, tokens] = [count(leaveOut.files.length), count(leaveOut.tokens)];
  return written === undefined
    ? say`Leave out ${files} file[s] with ${tokens} token[s]`
    : say`Start llama-server with ${written} and leave out ${files} file[s] with ${tokens} token[s]`;
}

function deviceOf({ name, totalBytes, freeBytes, marginBytes, verdict }: PrescribedDevice): PrescribedDevice {
  return {
    name,
    totalBytes,
    ...(freeBytes !== undefined && { freeBytes }),
    ...(marginBytes !== undefined && { marginBytes }),
    ...(verdict !== undefined && { verdict }),
  };
}

function costsOf({ report, judged, steps, leaveOut, change }: Prescribed): readonly Text[] {
  const costs: Text[] = steps.flatMap(({ cost }) => cost);
  const [before, after] = [valueOf(report.memory), valueOf(judged.memory)];
  if (change !== undefined && before !== undefined && after !== undefined) {
    const more = after.totalBytes - before.totalBytes;
    if (more > 2 ** 20) costs.unshift(say`Needs ${bytes(more)} more memory.`);
    const known = new Set(before.warnings.map(({ code }) => code));
    const moved = after.warnings.find(({ code }) => code === "fitMovesLayers");
    if (moved !== undefined && !known.has(moved.code)) costs.push(moved.message);
  }
  const [now, then] = [report.prefill, judged.prefill];
  if (leaveOut === undefined && now.known && then.known && now.seconds !== then.seconds) {
    costs.push(
      say`Measured: the prompt is read in ${seconds(then.seconds)} instead of ${seconds(now.seconds)}.`,
    );
  }
  if (leaveOut !== undefined) costs.push(say`The model does not see these files.`);
  return costs;
}
