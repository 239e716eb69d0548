import { buildNumber } from "../launch/builds";
import type { LaunchChange } from "../launch/launchChange";
import { slotContext } from "../launch/slotContext";
import { valueOf } from "../known";
import { backendOf, isHost } from "../memory/devices/memoryDevice";
import { reportWithout } from "../report/fileChoice";
import type { GaugeReport } from "../report/gaugeReport";
import { whatIf, type Judged, type WhatIfSituation } from "../report/whatIf";
import { count, say } from "../text";
import { asPrescription } from "./asPrescription";
import { leaveOutFor } from "./leaveOut";
import {
  nothingPrescribed,
  type Impossible,
  type LeaveOut,
  type Prescription,
  type Prescriptions,
} from "./prescription";
import { movesLayers, rank, search, settled, weightOf, type Found } from "./search";
import { speedSteps } from "./speedSteps";
import { kvSteps, offloadSteps, slotSteps, ubatchSteps, yarnStep, type Step, type StepFacts } from "./steps";
import { smallestContext, tokensNeeded, type TokensNeeded } from "./tokensNeeded";

/** More are no help. */
const mostOffered = 5;

/**
 * What to change where a prompt does not fit, is tight or takes too long, the cheapest change first. Each was judged as the
 * verdict was; a hundred budgets at most, some tenths of a second.
 */
export function prescribe(report: GaugeReport, situation: WhatIfSituation): Prescriptions {
  const { kind } = report.verdict;
  if (kind === "fits" || (kind === "unknown" && report.acceptance.nCtxPerSlot === null))
    return nothingPrescribed;
  const setup = setupOf(report, situation);
  const changes = setup === undefined ? noChanges : byOptions(setup);
  const dropping = byLeavingOut(report, setup, changes.found);
  const moved = movesLayers(report);
  const keeping = changes.found
    .toSorted((a, b) => orderOf(a, moved) - orderOf(b, moved))
    .slice(0, mostOffered - dropping.offered.length)
    .map(({ steps, change, judged }) => asPrescription({ report, judged, change, steps }));
  const { impossible } = changes;
  return {
    offered: [...keeping, ...dropping.offered],
    impossible: [...impossible, ...dropping.impossible],
  };
}

interface Setup extends StepFacts {
  readonly report: GaugeReport;
  readonly situation: WhatIfSituation;
  readonly needed: TokensNeeded;
  readonly judge: (change: LaunchChange) => Judged | undefined;
}

function setupOf(report: GaugeReport, situation: WhatIfSituation): Setup | undefined {
  const { model, launch, server } = situation;
  if (!model.known || !report.memory.known || whatIf(report, situation, {}) === undefined) return undefined;
  const build = buildNumber(valueOf(server)?.facts.build);
  const gpus = report.memory.value.devices
    .map((device) => ({ ...device, freeBytes: 0 }))
    .filter((device) => !isHost(device));
  return {
    ...{ report, situation, launch, build },
    model: model.value,
    slot: slotContext(launch, model.value, build),
    memory: report.memory.value,
    backends: gpus.map(backendOf),
    needed: tokensNeeded(report.acceptance),
    judge: (change) => {
      const judged = whatIf(report, situation, change);
      return judged !== undefined && starts(judged) ? judged : undefined;
    },
  };
}

/** Warnings that say llama-server stops. */
const stopping = new Set(["quantisedVWithoutFlashAttention", "headSizeNotDivisible", "cacheTypesDiffer"]);

const starts = ({ memory }: Judged): boolean =>
  valueOf(memory)?.warnings.every(({ code }) => !stopping.has(code)) ?? true;

interface Changes {
  readonly found: readonly Found[];
  readonly impossible: readonly Impossible[];
}

const noChanges: Changes = { found: [], impossible: [] };

function byOptions(setup: Setup): Changes {
  const { report, judge } = setup;
  const { kind } = report.verdict;
  if (kind === "slow") return { found: speedSteps(setup.report, setup.situation, judge), impossible: [] };
  const { steps, impossible } = stepsFor(setup);
  const found = search({ now: report, steps, complete: (set) => completed(setup, set), judge });
  return { found, impossible: [...impossible, ...memoryLimit(setup, found)] };
}

function stepsFor(setup: Setup): {
  readonly steps: readonly Step[];
  readonly impossible: readonly Impossible[];
} {
  const { needed, slot, report } = setup;
  const grows = (report.acceptance.nCtxPerSlot ?? 0) < needed.enough;
  const context: Step = grows
    ? { family: "context", change: {}, weight: 3, cost: [] }
    : {
        family: "context",
        change: {},
        weight: 0.5,
        cost: [say`The context holds this prompt and its answer, but not much more of a conversation.`],
      };
  const impossible: Impossible[] = [];
  const others: Step[] = [];
  if (needed.enough > slot.trainingContext) {
    const trained = count(slot.trainingContext);
    impossible.push({
      change: say`A larger -c`,
      why: say`The model was trained for ${trained} token[s], and one request may hold no more, whatever -c is.`,
    });
    const yarn = yarnStep(setup, needed.enough);
    if ("why" in yarn) impossible.push({ change: say`Extending the context with YaRN`, why: yarn.why });
    else others.push(yarn);
  }
  const withContext = completed(setup, [...others, context]) ?? {};
  const holds =
    (base: LaunchChange) =>
    (change: LaunchChange): boolean => {
      const judged = setup.judge({ ...base, ...change });
      return judged !== undefined && settled(judged);
    };
  const offload = [...offloadSteps(setup, holds({})), ...offloadSteps(setup, holds(withContext))];
  const memory = [...slotSteps(setup), ...kvSteps(setup), ...ubatchSteps(setup), ...unique(offload)];
  const steps = [context, ...others, ...memory].sort((a, b) => a.weight - b.weight);
  return { steps, impossible };
}

function unique(steps: readonly Step[]): readonly Step[] {
  const key = ({ change }: Step): string => JSON.stringify(change);
  return steps.filter((step, i) => steps.findIndex((each) => key(each) === key(step)) === i);
}

/** The whole change of some steps; `-c` is as small as prompt and answer allow. */
function completed({ launch, model, build, needed }: Setup, set: readonly Step[]): LaunchChange | undefined {
  const change = Object.assign({}, ...set.map((step) => step.change)) as LaunchChange;
  if (!set.some(({ family }) => family === "context")) return change;
  const then = { ...launch, ...change };
  const limit = slotContext({ ...then, ctxSize: 256 }, model, build).trainingContext;
  const tokens = needed.enough > limit && needed.least <= limit ? limit : needed.enough;
  const context = smallestContext(tokens, then, model, build);
  if (context === undefined) return undefined;
  const same = context.ctxSize === launch.ctxSize && context.kvUnifiedPerSlot === undefined;
  return same ? undefined : { ...change, ...context };
}

/** Why no context that is large enough fits the machine, whatever it is stored in. */
function memoryLimit(setup: Setup, found: readonly Found[]): readonly Impossible[] {
  if (found.length > 0 || setup.needed.least > setup.slot.trainingContext) return [];
  const { needed, launch, model, build } = setup;
  const context = smallestContext(needed.least, launch, model, build);
  const judged = context && setup.judge({ ...context, cacheTypeK: "q4_0", cacheTypeV: "q4_0" });
  const tightest = judged && valueOf(judged.memory)?.tightest;
  if (context?.ctxSize === undefined || tightest === undefined || tightest.shortBytes === 0) return [];
  return [
    {
      change: say`A context of ${count(context.ctxSize)} token[s]`,
      why: say`Even with q4_0 for the KV cache it does not fit: ${tightest.text}`,
    },
  ];
}

/** What keeps the most is first; among those the cheapest. */
const orderOf = ({ steps, judged }: Found, movedAlready: boolean): number =>
  1000 * Math.max(1, rank[judged.verdict.kind]) +
  weightOf(steps) +
  (!movedAlready && movesLayers(judged) ? movedWeight : 0);

/** As much as `-ngl` by hand. */
const movedWeight = 9;

function byLeavingOut(
  report: GaugeReport,
  setup: Setup | undefined,
  found: readonly Found[],
): { readonly offered: readonly Prescription[]; readonly impossible: readonly Impossible[] } {
  const { nCtxPerSlot } = report.acceptance;
  const offered: Prescription[] = [];
  const fewer = nCtxPerSlot === null ? undefined : withFewer(report, nCtxPerSlot, (its) => its);
  if (fewer !== undefined) offered.push(asPrescription({ report, ...fewer, steps: [] }));
  let least = offered[0]?.leaveOut?.tokens ?? Infinity;
  for (const steps of setup === undefined ? [] : roomier(setup)) {
    const both = setup && largestAndLess(setup, steps);
    const tokens = both?.leaveOut?.tokens ?? Infinity;
    if (both === undefined || tokens >= muchLess * least) continue;
    least = tokens;
    offered.unshift(both);
  }
  const possible = offered.length > 0 || found.some(({ judged }) => settled(judged));
  if (possible || report.verdict.kind !== "exceedsContext") return { offered, impossible: [] };
  return {
    offered,
    impossible: [
      { change: say`Leaving out files`, why: say`Even the smallest choice of these files does not fit.` },
    ],
  };
}

/** Restarting the server should save more files than that. */
const muchLess = 0.8;

const allOut = (report: GaugeReport, files: readonly { readonly path: string }[]): ReadonlySet<string> =>
  new Set([...(report.leftOut ?? []), ...files.map(({ path }) => path)]);

/** Steps that leave more of the memory to one request, the cheapest first. */
function roomier(setup: Setup): readonly (readonly Step[])[] {
  const shared = setup.slot.unified ? [] : slotSteps(setup).slice(0, 1);
  const smaller = kvSteps(setup).slice(0, 1);
  return smaller.length === 0 ? [shared] : [shared, [...shared, ...smaller]];
}

/** The largest context that fits the machine after these steps, and what then still has to go. */
function largestAndLess(setup: Setup, steps: readonly Step[]): Prescription | undefined {
  const { report, situation, launch, model, build } = setup;
  const made = Object.assign({}, ...steps.map((step) => step.change)) as LaunchChange;
  const ctxSize = situation.budgets?.largestContext({ ...launch, ...made }) ?? 0;
  const change: LaunchChange = { ...made, ctxSize };
  const { nCtxPerSlot } = slotContext({ ...launch, ...change }, model, build);
  if (ctxSize === 0 || ctxSize === launch.ctxSize) return undefined;
  const fewer = withFewer(report, nCtxPerSlot, (its) => whatIf(its, situation, change));
  return fewer && asPrescription({ report, ...fewer, change, steps });
}

/** Shares of a slot to fill: headings of files that stay are only shared out, and a close shave is no promise. */
const fills = [1, 0.99, 0.95];

/** The fewest files to leave out that make the verdict better for sure. */
function withFewer(
  report: GaugeReport,
  nCtxPerSlot: number,
  judge: (fewer: GaugeReport) => Judged | undefined,
): { readonly leaveOut: LeaveOut; readonly judged: Judged } | undefined {
  for (const fill of fills) {
    const leaveOut = leaveOutFor(report, Math.floor(fill * nCtxPerSlot));
    const judged = leaveOut && judge(reportWithout(report, allOut(report, leaveOut.files)));
    if (judged === undefined || leaveOut === undefined || !starts(judged)) continue;
    const { kind } = judged.verdict;
    if (kind !== "unknown" && rank[kind] < rank[report.verdict.kind]) return { leaveOut, judged };
  }
  return undefined;
}
