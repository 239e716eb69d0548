import { acceptance, limitOfLaunch } from "../acceptance/acceptance";
import { buildNumber, slotContext } from "../launch/slotContext";
import { speedFlags } from "../llamaBench/benchArguments";
import { known, unknown, valueOf, type Known } from "../known";
import type { LaunchChange } from "../launch/launchChange";
import type { LaunchOptions } from "../launch/launchOptions";
import type { DepthCurve } from "../prefill/depthCurve";
import { predict } from "../prefill/predict";
import type { Prediction } from "../prefill/prediction";
import { promptKeeping, secondQuestion } from "../prefill/secondQuestion";
import { say } from "../text";
import type { Situation } from "./situation";
import type { GaugeReport } from "./gaugeReport";
import { judge } from "./verdict";

/** What is needed to try other launch options; everything of it is in memory. */
export type WhatIfParts = Pick<
  Situation,
  "server" | "model" | "launch" | "launchNotes" | "budgets" | "curveOf"
>;

/** A report about the same counted files. */
export type Judged = Omit<GaugeReport, "tokens">;

/**
 * The report as it would be had llama-server been started with these changes: acceptance, memory and wait together, from
 * what is known already (about a millisecond). Undefined where nothing can be tried.
 */
export function whatIf(report: GaugeReport, parts: WhatIfParts, change: LaunchChange): Judged | undefined {
  const { server, model, budgets } = parts;
  if (!model.known || budgets === undefined || report.knobs === undefined) return undefined;
  const launch: LaunchOptions = { ...parts.launch, ...change };
  const facts = valueOf(server)?.facts;
  const build = facts?.build === undefined ? undefined : buildNumber(facts.build);
  const held = budgets.of(launch);
  const memory = known(held);
  const planned = slotContext(launch, model.value.contextLength, build);
  // -fit may reduce a context that was not asked for
  const nCtxPerSlot = Math.min(planned.nCtxPerSlot, held.context.nCtxPerSlot);
  const limit = known({ ...limitOfLaunch(planned), nCtxPerSlot });
  const { parts: prompt, relativeError, answerReserve } = report.acceptance;
  const judged = acceptance({
    parts: prompt,
    ...(relativeError !== undefined && { relativeError }),
    limit,
    answerReserve,
  });
  const notes = (report.notes ?? []).filter((note) => parts.launchNotes?.includes(note) !== true);
  const accepted = { ...judged, reasons: [...judged.reasons, ...notes] };
  const { tokens: _, curve: measured, origin, second: __, ...rest } = report;
  const flags = speedFlags(launch);
  const same = flags === speedFlags(parts.launch);
  const other = parts.curveOf?.(launch) ?? unmeasured;
  const curve = same ? measured : valueOf(other);
  const from = same ? origin : report.curves?.find((each) => each.curve === curve)?.origin;
  const prefill = same ? report.prefill : waitWith(other, judged.promptTokens);
  return {
    ...rest,
    acceptance: accepted,
    memory,
    prefill,
    ...(curve && {
      curve,
      second: secondQuestion(promptKeeping(model.value, launch), curve, judged.promptTokens),
    }),
    ...(from && { origin: from }),
    limit,
    notes,
    // a server that runs otherwise proves nothing about this launch
    verdict: judge({ acceptance: accepted, server: notStarted, memory, prefill }),
  };
}

const notStarted = unknown(say`No server runs with these options.`, say`Start llama-server with them.`);

const unmeasured = unknown(say`No speed was measured with these options.`, say`Run a depth probe with them.`);

function waitWith(curve: Known<DepthCurve>, tokens: number): Prediction {
  if (curve.known) return predict(curve.value, { tokens });
  return { known: false, reason: say`${curve.why} ${curve.remedy}` };
}
