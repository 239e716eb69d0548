import { limitOfLaunch } from "../acceptance/acceptance";
import { buildNumber } from "../launch/builds";
import { slotContext } from "../launch/slotContext";
import { speedFlags } from "../llamaBench/benchArguments";
import { known, unknown, valueOf, type Known } from "../known";
import type { LaunchChange } from "../launch/launchChange";
import type { LaunchOptions } from "../launch/launchOptions";
import type { DepthCurve } from "../prefill/depthCurve";
import { promptKeeping } from "../prefill/secondQuestion";
import { say } from "../text";
import type { Situation } from "./situation";
import type { GaugeReport } from "./gaugeReport";
import { judgement, judgedSpeed, patienceOf, type JudgementInput } from "./judgement";

/** What is needed to try other launch options; everything of it is in memory. */
export type WhatIfSituation = Pick<
  Situation,
  "server" | "model" | "launch" | "launchNotes" | "budgets" | "curveOf"
>;

/** A report about the same counted files. */
export type Judged = Omit<GaugeReport, "tokens">;

/**
 * The report as it would be had llama-server been started with these changes: acceptance, memory and wait together, from
 * what is known already (about a millisecond). Undefined where nothing can be tried.
 */
export function whatIf(
  report: GaugeReport,
  situation: WhatIfSituation,
  change: LaunchChange,
): Judged | undefined {
  const { server, model, budgets, launchNotes } = situation;
  if (!model.known || budgets === undefined || report.knobs === undefined) return undefined;
  const launch: LaunchOptions = { ...situation.launch, ...change };
  const facts = valueOf(server)?.facts;
  const build = buildNumber(facts?.build);
  const held = budgets.of(launch);
  const planned = slotContext(launch, model.value, build);
  // -fit may reduce a context that was not asked for
  const nCtxPerSlot = Math.min(planned.nCtxPerSlot, held.context.nCtxPerSlot);
  const { parts, relativeError, answerReserve } = report.acceptance;
  const { tokens: _, curve: __, origin, second: ___, beside: ____, ...rest } = report;
  const flags = speedFlags(launch);
  const same = flags === speedFlags(situation.launch);
  const speed = same ? judgedSpeed(report) : speedWith(situation.curveOf?.(launch) ?? unmeasured);
  const from = same ? origin : report.curves?.find((each) => each.curve === speed)?.origin;
  return {
    ...rest,
    of: { ...report.of, options: launch },
    ...judgement({
      prompt: parts,
      ...(relativeError !== undefined && { relativeError }),
      limit: known({ ...limitOfLaunch(planned), nCtxPerSlot }),
      answerReserve,
      notes: report.notes.filter((note) => !launchNotes.includes(note)),
      // a server that runs otherwise proves nothing about this launch
      server: notStarted,
      memory: known(held),
      ...patienceOf(report),
      speed,
      keeping: promptKeeping(model.value, launch),
    }),
    ...(from && { origin: from }),
  };
}

const notStarted = unknown(say`No server runs with these options.`, say`Start llama-server with them.`);

const unmeasured = unknown(
  say`No speed has been measured with these options.`,
  say`Run a depth probe with them.`,
);

function speedWith(curve: Known<DepthCurve>): JudgementInput["speed"] {
  return curve.known ? curve.value : { unmeasured: say`${curve.why} ${curve.remedy}` };
}
