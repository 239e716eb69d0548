import { acceptance, limitOfLaunch, limitOfServer, type RequestLimit } from "../acceptance/acceptance";
import type { ServerFacts } from "../acceptance/serverFacts";
import { buildNumber, slotContext } from "../launch/slotContext";
import { known, unknown, valueOf, type Known } from "../known";
import type { DepthCurve } from "../prefill/depthCurve";
import { predict } from "../prefill/predict";
import type { Prediction } from "../prefill/prediction";
import { promptKeeping, secondQuestion } from "../prefill/secondQuestion";
import { say } from "../text";
import { assumedTokenizer } from "../tokens/estimateTokens";
import { countFiles } from "../tokens/countFiles";
import type { WalkOptions } from "../files/files";
import { packText, rawText, type PackTemplate } from "../tokens/pack";
import type { GaugeReport, ModelSummary } from "./gaugeReport";
import type { EstimateProgress } from "./gaugeState";
import { knobsOf, type Knobs } from "./tryableOptions";
import { countPrompt, noServerTemplate, serverTemplate, type TemplateChoice } from "./promptCount";
import type { ConnectedServer, Situation } from "./situation";
import { judge } from "./verdict";
import type { Tokenizer } from "../tokens/tokenizer";

export interface EstimateRequest {
  readonly scope: GaugeReport["scope"];
  readonly walk: WalkOptions;
  /** "raw": the text alone, no headers, no chat template. */
  readonly pack: PackTemplate | "raw";
  /** Tokens to keep for the answer. */
  readonly answerReserve: number;
  /** Paths of files that are counted but do not go into the prompt. */
  readonly leftOut?: readonly string[];
}

/**
 * The one way through the house: list, count, judge. Fails with a `UserError` where counting itself fails (the server
 * dies, a root does not exist), with the signal's reason where it is aborted.
 */
export async function estimate(
  request: EstimateRequest,
  parts: Situation,
  onProgress: (progress: EstimateProgress) => void,
  signal: AbortSignal,
): Promise<GaugeReport> {
  const connected = valueOf(parts.server);
  const tokenizer = chooseTokenizer(parts);
  const cache =
    tokenizer.fingerprint === undefined ? undefined : await parts.countCache?.(tokenizer.fingerprint);
  const tokens = await countFiles(
    { files: parts.files, tokenizer, clock: parts.clock, ...(cache && { cache }) },
    { roots: request.scope.roots, options: request.walk },
    (progress) => onProgress({ stage: "counting", ...progress }),
    signal,
  );
  onProgress({
    stage: "judging",
    filesFound: tokens.files.length,
    filesDone: tokens.files.length,
    tokens: tokens.tokens,
  });

  const leftOut = new Set(request.leftOut);
  const chosen = tokens.files.filter(({ file }) => !leftOut.has(file.path));
  const files = chosen.map(({ file }) => file);
  const text =
    request.pack === "raw"
      ? rawText(files, parts.files, signal)
      : packText(files, request.pack, parts.files, signal);
  const template = await chooseTemplate(request, connected, signal);
  const packing = JSON.stringify(request.pack);
  const prompt = await countPrompt(
    { files: chosen, text, packing, tokenizer, template, ...(cache && { cache }) },
    signal,
  );
  void cache?.flush();
  const limit = requestLimit(parts);
  const accepted = acceptance({
    parts: prompt.parts,
    ...(prompt.relativeError !== undefined && { relativeError: prompt.relativeError }),
    limit,
    answerReserve: request.answerReserve,
  });
  const notes = [...prompt.notes, ...(parts.launchNotes ?? [])];
  const acceptanceReport = { ...accepted, reasons: [...accepted.reasons, ...notes] };
  const prefill = prediction(parts.curve, acceptanceReport.promptTokens);
  const server: Known<ServerFacts> = parts.server.known ? known(parts.server.value.facts) : parts.server;
  const knobs = knobsOfParts(parts);
  return {
    revision: 0,
    createdAt: parts.clock.now(),
    scope: request.scope,
    tokens,
    server,
    model: modelSummary(parts),
    acceptance: acceptanceReport,
    memory: parts.memory,
    prefill,
    ...(parts.curve.known && { curve: parts.curve.value }),
    ...(parts.origin !== undefined && { origin: parts.origin }),
    ...(parts.curves !== undefined && { curves: parts.curves }),
    ...secondOf(parts, acceptanceReport.promptTokens),
    limit,
    pack: request.pack,
    notes,
    ...(knobs && { knobs }),
    ...(chosen.length < tokens.files.length && {
      leftOut: tokens.files.map(({ file }) => file.path).filter((path) => leftOut.has(path)),
    }),
    verdict: judge({ acceptance: acceptanceReport, server, memory: parts.memory, prefill }),
  };
}

/**
 * A vocabulary that was checked with the server; the server's own tokenizer where it is awake; else the model's
 * vocabulary; else an assumption that says so.
 */
export function chooseTokenizer({ files, server, vocabulary }: Situation): Tokenizer {
  if (vocabulary.known && vocabulary.value.identity.checkedWith !== undefined) return vocabulary.value;
  if (server.known && !server.value.facts.sleeping) return server.value.server.tokenizer(server.value.facts);
  return valueOf(vocabulary) ?? assumedTokenizer(files.pause);
}

async function chooseTemplate(
  request: EstimateRequest,
  connected: ConnectedServer | undefined,
  signal: AbortSignal,
): Promise<TemplateChoice> {
  if (request.pack === "raw") return { kind: "none" };
  if (connected === undefined || connected.facts.sleeping) return noServerTemplate;
  return serverTemplate(connected.server, signal);
}

/** What one request may hold: as the server reports it, else as the launch options and the header say. */
function requestLimit({ server, model, launch }: Situation): Known<RequestLimit> {
  const trained = valueOf(model)?.contextLength;
  if (server.known) {
    const { facts } = server.value;
    const build = facts.build === undefined ? undefined : buildNumber(facts.build);
    const planned = trained === undefined ? undefined : slotContext(launch, trained, build);
    const same = planned?.nCtxPerSlot === facts.nCtxPerSlot && planned.slots === facts.totalSlots;
    return known(limitOfServer(facts, same ? planned : undefined));
  }
  if (trained === undefined || trained === 0) {
    return unknown(
      say`No llama-server answers, and no model was chosen: its context is not known.`,
      server.remedy,
    );
  }
  return known(limitOfLaunch(slotContext(launch, trained)));
}

/** What can be tried; nothing where there is no model to try it on. */
function knobsOfParts({ server, model, launch, memory, budgets }: Situation): Knobs | undefined {
  if (!model.known || !memory.known || budgets === undefined) return undefined;
  const build = valueOf(server)?.facts.build;
  return knobsOf(model.value, launch, memory.value, build === undefined ? undefined : buildNumber(build));
}

function secondOf({ model, curve, launch }: Situation, promptTokens: number): Pick<GaugeReport, "second"> {
  if (!model.known || !curve.known) return {};
  return { second: secondQuestion(promptKeeping(model.value, launch), curve.value, promptTokens) };
}

function prediction(curve: Known<DepthCurve>, tokens: number): Prediction {
  return curve.known ? predict(curve.value, { tokens }) : { known: false, reason: curve.why };
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
