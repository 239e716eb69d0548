import { limitOfLaunch, limitOfServer, type RequestLimit } from "../acceptance/acceptance";
import type { ServerFacts } from "../acceptance/serverFacts";
import { buildNumber } from "../launch/builds";
import { slotContext } from "../launch/slotContext";
import { known, unknown, valueOf, type Known } from "../known";
import type { Clock } from "../clock";
import type { FileSource, WalkOptions } from "../files/files";
import { promptKeeping } from "../prefill/secondQuestion";
import { say } from "../text";
import { countFiles } from "../tokens/countFiles";
import type { TokenCount } from "../tokens/tokenCount";
import { packText, rawText, type PackTemplate } from "../tokens/pack";
import { besideServer } from "./besideServer";
import type { GaugeReport, ModelSummary, ReportSubject } from "./gaugeReport";
import type { EstimateProgress } from "./gaugeState";
import { judgement } from "./judgement";
import { tryableOptions, type TryableOptions } from "./tryableOptions";
import { countPrompt, noTemplate, serverTemplate, type TemplateChoice } from "./promptCount";
import type { Situation } from "./situation";

/** Which text is judged, and how much of the context its answer needs. */
export interface PromptSpec {
  readonly scope: GaugeReport["scope"];
  readonly walk: WalkOptions;
  /** "raw": the text alone, no headers, no chat template. */
  readonly pack: PackTemplate | "raw";
  /** Tokens to keep for the answer. */
  readonly answerReserve: number;
  /** Seconds to wait for the first token before "fits" becomes "slow"; absent or 0: any time. */
  readonly patienceSeconds?: number;
  /** Paths of files that are counted but do not go into the prompt. */
  readonly leftOut?: readonly string[];
}

/** What an estimate needs besides the setup it is made for. */
export interface EstimateMeans {
  readonly files: FileSource;
  readonly clock: Clock;
  /** The files, where counting them has begun already. */
  readonly counting?: Promise<TokenCount>;
}

/** Counts what was asked for; to begin before the whole situation is known. */
export async function countRequested(
  request: Pick<PromptSpec, "scope" | "walk">,
  { tokenizer, counts }: Pick<Situation, "tokenizer" | "counts">,
  { files, clock }: Pick<EstimateMeans, "files" | "clock">,
  onProgress: (progress: EstimateProgress) => void,
  signal: AbortSignal,
): Promise<TokenCount> {
  const cache = await counts?.();
  return countFiles(
    { files, tokenizer, clock, ...(cache && { cache }) },
    { roots: request.scope.roots, options: request.walk },
    (progress) => onProgress({ stage: "counting", ...progress }),
    signal,
  );
}

/**
 * The one way through the house: list, count, judge. Fails with a `UserError` where counting itself fails (the server
 * dies, a root does not exist), with the signal's reason where it is aborted.
 */
export async function estimate(
  request: PromptSpec,
  situation: Situation,
  { files, clock, counting }: EstimateMeans,
  onProgress: (progress: EstimateProgress) => void,
  signal: AbortSignal,
): Promise<GaugeReport> {
  const { tokenizer } = situation;
  const cache = await situation.counts?.();
  const tokens = await (counting ?? countRequested(request, situation, { files, clock }, onProgress, signal));
  onProgress({
    stage: "judging",
    filesFound: tokens.files.length,
    filesDone: tokens.files.length,
    tokens: tokens.tokens,
  });

  const leftOut = new Set(request.leftOut);
  const chosen = tokens.files.filter(({ file }) => !leftOut.has(file.path));
  const sent = chosen.map(({ file }) => file);
  const text =
    request.pack === "raw" ? rawText(sent, files, signal) : packText(sent, request.pack, files, signal);
  const template = await chooseTemplate(request, situation, signal);
  const packing = JSON.stringify(request.pack);
  const prompt = await countPrompt(
    { files: chosen, text, packing, tokenizer, template, ...(cache && { cache }) },
    signal,
  );
  // it never fails
  cache?.flush().catch(() => undefined);
  const { model, launch, curve, origin, curves, otherModel, memory, held } = situation;
  const server = factsOf(situation.server);
  const beside = besideServer({ server, memory, ...(held && { held }) });
  const knobs = optionsToTry(situation);
  const createdAt = clock.now();
  return {
    revision: 0,
    createdAt,
    scope: request.scope,
    of: subjectOf(situation, createdAt),
    tokens,
    server,
    model: modelSummary(situation),
    ...(otherModel !== undefined && { otherModel }),
    ...judgement({
      prompt: prompt.parts,
      ...(prompt.relativeError !== undefined && { relativeError: prompt.relativeError }),
      limit: requestLimit(situation),
      answerReserve: request.answerReserve,
      notes: [...prompt.notes, ...situation.launchNotes, ...(situation.curveNotes ?? [])],
      server,
      memory,
      ...(beside && { beside }),
      speed: curve.known
        ? curve.value
        : { unmeasured: situation.curveNotes === undefined ? curve.why : say`${curve.why} ${curve.remedy}` },
      ...(request.patienceSeconds !== undefined && { patienceSeconds: request.patienceSeconds }),
      ...(model.known && { keeping: promptKeeping(model.value, launch) }),
    }),
    ...(origin !== undefined && { origin }),
    ...(curves !== undefined && { curves }),
    pack: request.pack,
    ...(template.kind === "chat" && { template: template.origin }),
    ...(knobs && { knobs }),
    ...(chosen.length < tokens.files.length && {
      leftOut: tokens.files.map(({ file }) => file.path).filter((path) => leftOut.has(path)),
    }),
  };
}

function factsOf(server: Situation["server"]): Known<ServerFacts> {
  return server.known ? known(server.value.facts) : server;
}

function subjectOf({ server, modelFile, launch }: Situation, now: number): ReportSubject {
  const facts = valueOf(server)?.facts;
  const model = facts?.model.path ?? facts?.model.id ?? valueOf(modelFile);
  return {
    ...(model !== undefined && { model }),
    options: launch,
    ...(facts?.build !== undefined && { build: facts.build }),
    day: new Date(now).toISOString().slice(0, 10),
  };
}

async function chooseTemplate(
  request: PromptSpec,
  { server, template }: Situation,
  signal: AbortSignal,
): Promise<TemplateChoice> {
  if (request.pack === "raw") return { kind: "none" };
  const connected = valueOf(server);
  if (connected !== undefined && !connected.facts.sleeping) return serverTemplate(connected.server, signal);
  return (await template?.(signal)) ?? noTemplate;
}

/** What one request may hold: as the server reports it, else as the launch options and the header say. */
function requestLimit({ server, model, launch, memory }: Situation): Known<RequestLimit> {
  const trained = valueOf(model);
  if (server.known) {
    const { facts } = server.value;
    const build = buildNumber(facts.build);
    const planned = trained === undefined ? undefined : slotContext(launch, trained, build);
    const same = planned?.nCtxPerSlot === facts.nCtxPerSlot && planned.slots === facts.totalSlots;
    return known(limitOfServer(facts, same ? planned : undefined));
  }
  if (trained === undefined || trained.contextLength === 0) {
    return unknown(
      say`No llama-server responds and no model is selected, so the context is unknown.`,
      server.remedy,
    );
  }
  const planned = limitOfLaunch(slotContext(launch, trained));
  // -fit may reduce a context that was not asked for
  const fitted = valueOf(memory)?.context.nCtxPerSlot ?? Infinity;
  return known({ ...planned, nCtxPerSlot: Math.min(planned.nCtxPerSlot, fitted) });
}

/** What can be tried; nothing where there is no model to try it on. */
function optionsToTry({ server, model, launch, memory, budgets }: Situation): TryableOptions | undefined {
  if (!model.known || !memory.known || budgets === undefined) return undefined;
  const build = valueOf(server)?.facts.build;
  return tryableOptions(model.value, launch, memory.value, buildNumber(build));
}

function modelSummary({ server, model }: Situation): Known<ModelSummary> {
  const header = valueOf(model);
  const served = valueOf(server)?.facts.model;
  if (served !== undefined) {
    const contextLength = served.nCtxTrain ?? header?.contextLength;
    const parameters = served.parameters ?? header?.tensors.parameters;
    const weightsBytes = served.weightsBytes ?? header?.tensors.totalBytes;
    return known({
      name: served.id,
      ...(header && { architecture: header.architecture }),
      ...(contextLength !== undefined && { contextLength }),
      ...(parameters !== undefined && { parameters }),
      ...(weightsBytes !== undefined && { weightsBytes }),
      provenance: "reported",
    });
  }
  if (!model.known) return model;
  return known({
    name: model.value.name ?? model.value.architecture,
    architecture: model.value.architecture,
    contextLength: model.value.contextLength,
    parameters: model.value.tensors.parameters,
    weightsBytes: model.value.tensors.totalBytes,
    provenance: "computed",
  });
}
