import { looksLikeOutOfMemory } from "./outOfMemory";
import { judgeLadder } from "../score/judgeLadder";
import { targetOf } from "../plan/plan";
import type { DiagnosisFacts } from "./diagnosisStep";
import type { LadderRecord } from "../score/record";
import { peaksOf } from "../score/results";
import type { ServerFacts } from "../../acceptance/serverFacts";
import type { LaunchOptions } from "../../launch/launchOptions";
import type { LogFacts } from "../../logs/reading/logFacts";
import type { LogEvent } from "../../logs/logEvent";
import type { DepthCurve } from "../../prefill/depthCurve";
import { count, say, seconds } from "../../text";
import type { Text } from "../../text";
import { smallest } from "../../lists";

/** What is at hand before anything is asked. */
export interface DiagnosisSources {
  readonly server?: ServerFacts;
  readonly launch?: LaunchOptions;
  /** The server's log. */
  readonly log?: { readonly facts: LogFacts; readonly events: readonly LogEvent[]; readonly text: string };
  /** The newest ladder of this model. */
  readonly ladder?: LadderRecord;
  readonly curve?: DepthCurve;
  /** Tokens of the prompt that an estimate was made for. */
  readonly promptTokens?: number;
  /** Free now; the server is up. */
  readonly devices?: readonly {
    readonly name: string;
    readonly freeBytes: number;
    readonly totalBytes?: number;
  }[];
}

/** What was read, and from where, in the order it is told. */
export interface ReadFacts {
  readonly facts: DiagnosisFacts;
  readonly told: readonly Text[];
}

/** Reads from server, log and history what the diagnosis would otherwise ask. */
export function readFacts(sources: DiagnosisSources): ReadFacts {
  const parts = [fromServer(sources), fromLog(sources), fromLadder(sources), fromCurve(sources)];
  const { promptTokens, devices } = sources;
  return {
    facts: {
      ...(Object.assign({}, ...parts.map(({ facts }) => facts)) as DiagnosisFacts),
      ...(promptTokens !== undefined && { promptTokens }),
      ...(devices !== undefined && devices.length > 0 && { devices }),
    },
    told: [
      ...parts.flatMap(({ told }) => told),
      ...(promptTokens === undefined
        ? []
        : [say`The last estimate: a prompt of ${count(promptTokens)} token[s].`]),
    ],
  };
}

const nothing: ReadFacts = { facts: {}, told: [] };
const exactTypes: ReadonlySet<string> = new Set(["f16", "bf16", "f32"]);

function fromServer({ server, launch }: DiagnosisSources): ReadFacts {
  if (server === undefined) return nothing;
  const { nCtxPerSlot, totalSlots, model } = server;
  const types = [launch?.cacheTypeK, launch?.cacheTypeV];
  const known = types.filter((type) => type !== undefined);
  const asked = launch?.ctxSize;
  return {
    facts: {
      nCtxPerSlot,
      slots: totalSlots,
      ...(launch?.kvUnified !== undefined && { unified: launch.kvUnified }),
      ...(asked !== undefined && asked > 0 && { requestedContext: asked }),
      ...(launch?.contextShift !== undefined && { contextShift: launch.contextShift }),
      ...(model.nCtxTrain !== undefined && { trainingContext: model.nCtxTrain }),
      ...(known.length > 0 && { kvQuantised: known.some((type) => !exactTypes.has(type)) }),
    },
    told: [
      say`The server: ${model.id}, ${count(nCtxPerSlot)} token[s] per request, ${count(totalSlots)} slot[s].`,
    ],
  };
}

function fromLog({ log }: DiagnosisSources): ReadFacts {
  if (log === undefined) return nothing;
  const { facts, events } = log;
  const failed = events.filter(({ severity }) => severity === "error").at(-1);
  const says = logSays(log);
  const rows = facts.breakdown.flatMap(({ device, freeBytes, totalBytes }) =>
    freeBytes === undefined
      ? []
      : [{ name: device, freeBytes, ...(totalBytes !== undefined && { totalBytes }) }],
  );
  const layers = facts.offloadedLayers;
  const type = facts.contexts[0]?.kv[0];
  return {
    facts: {
      ...(says !== undefined && { logSays: says }),
      ...(rows.length > 0 && {
        devices: rows,
        freeAfterLoadBytes: smallest(rows.map(({ freeBytes }) => freeBytes)),
      }),
      ...(layers !== undefined && facts.devices.length > 0 && { offloaded: layers.offloaded < layers.total }),
      ...(facts.model?.nCtxTrain !== undefined && { trainingContext: facts.model.nCtxTrain }),
      ...(type !== undefined && {
        kvQuantised: [type.typeK, type.typeV].some((kind) => kind !== undefined && !exactTypes.has(kind)),
      }),
      ...(facts.fitContext !== undefined && { requestedContext: facts.fitContext.from }),
    },
    told: [
      failed === undefined
        ? say`The log: no errors.`
        : say`The log, line ${count(failed.line)}: ${failed.cause}`,
    ],
  };
}

function logSays({ facts, events, text }: NonNullable<DiagnosisSources["log"]>): DiagnosisFacts["logSays"] {
  const errors = events.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return facts.fitContext === undefined ? undefined : "fitReduced";
  const messages = errors.map(({ message }) => message);
  if (looksLikeOutOfMemory([...messages, ...text.split("\n").slice(-30)])) return "outOfMemory";
  return messages.some((message) => /context size|exceeds? the available context/i.test(message))
    ? "contextExceeded"
    : "otherError";
}

function fromLadder({ ladder }: DiagnosisSources): ReadFacts {
  if (ladder === undefined) return nothing;
  const { rungs } = judgeLadder(ladder);
  const share = (
    recall: { readonly correct: number; readonly of: number } | undefined,
  ): number | undefined => (recall === undefined ? undefined : recall.correct / recall.of);
  const short = share(rungs.find(({ purpose }) => purpose === "base")?.recall);
  const longest = rungs.at(-1);
  const long = share(longest?.recall);
  const peaks = peaksOf(ladder.steps).filter(({ name }) => name !== "Host");
  const disturbed = ladder.steps.some(({ monitor }) => monitor?.verdict === "contaminated");
  const watched = ladder.steps.some(
    ({ monitor }) => monitor !== undefined && monitor.verdict !== "unmonitored",
  );
  return {
    facts: {
      ...(short !== undefined && { recallShort: short }),
      ...(long !== undefined && { recallLong: long }),
      ...(longest?.prefillSeconds !== undefined && { prefillSeconds: longest.prefillSeconds }),
      ...(watched && { disturbed }),
      ...(peaks.length > 0 && {
        devices: peaks.map(({ name, leastFreeBytes, totalBytes }) => ({
          name,
          freeBytes: leastFreeBytes,
          ...(totalBytes !== undefined && { totalBytes }),
        })),
      }),
    },
    told: [
      say`The last ladder: ${count(longest?.tokens ?? 0)} of ${count(targetOf(ladder.header.plan))} token[s] reached.`,
    ],
  };
}

/** How much slower a token is read at the deepest measured place than at the beginning. */
function fromCurve({ curve }: DiagnosisSources): ReadFacts {
  const points = (curve?.points ?? []).toSorted((a, b) => a.depth - b.depth);
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined || last.depth === first.depth) return nothing;
  const slowdown = last.seconds / last.tokens / (first.seconds / first.tokens);
  return {
    facts: { slowdown },
    told: [
      say`Measured: ${count(first.tokens)} token[s] took ${seconds(first.seconds)} at depth ${count(first.depth)}, ${count(last.tokens)} took ${seconds(last.seconds)} at ${count(last.depth)}.`,
    ],
  };
}
