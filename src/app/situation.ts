import { known, knownOr, unknown, unknownBecause, valueOf, type Known } from "../core/known";
import type { ServerFacts } from "../core/acceptance/serverFacts";
import type { LaunchOptions } from "../core/launch/launchOptions";
import { launchDifferences } from "../core/servers/launchDifferences";
import { runningLaunch } from "../core/servers/runningLaunch";
import type { Model } from "../core/model/model";
import { modelOf } from "../core/model/modelOf";
import type { Tokenizer } from "../core/tokens/tokenizer";
import type { FileSource } from "../core/files/files";
import { speedFlags } from "../core/llamaBench/benchArguments";
import { curveWith } from "../core/history/curveChoice";
import type { DepthCurve } from "../core/prefill/depthCurve";
import type { ConnectedServer, Situation } from "../core/report/situation";
import { say } from "../core/text";
import { gatherBudgets, type MemorySetup } from "./budgets";
import { readGgufHeader } from "../node/gguf/ggufModelSource";
import type { HistoryStore } from "./historyStore";
import { isThere } from "../node/waiting/isThere";
import { discoverServer, type Discovery, type DiscoveryOptions } from "../node/llamaServer/serverDiscovery";

/** What the user has set or said. */
export interface Setup extends MemorySetup {
  readonly files: FileSource;
  /** "none": do not look for a server. */
  readonly server: DiscoveryOptions | "none";
  /** A GGUF; absent: the running server's own file where it lies on this machine. */
  readonly modelPath?: string;
  /** llama-server's options for when none runs, or its process cannot be seen. */
  readonly launch: LaunchOptions;
  /** A curve that was named, or where to look for one of the running server. */
  readonly curve?: DepthCurve;
  readonly history?: HistoryStore;
  /** Opens the vocabulary of a GGUF; asked only where no server counts. */
  readonly openVocabulary: (path: string, signal: AbortSignal) => Promise<Tokenizer>;
}

/** Asks everything outside once. What is missing becomes an unknown with its remedy; only an abort fails. */
export async function gatherParts(setup: Setup, signal: AbortSignal): Promise<Situation> {
  const server = await connect(setup, signal);
  const facts = valueOf(server)?.facts;
  const path = await modelPath(setup, facts?.model.path);
  const model = path.known ? await knownOr(readModel(path.value, signal)) : path;
  const counts = facts !== undefined && !facts.sleeping;
  const vocabulary =
    path.known && !counts ? await knownOr(setup.openVocabulary(path.value, signal)) : noVocabulary(path);
  const own = facts === undefined ? undefined : await processOptions(setup, facts, signal);
  const launch = facts === undefined ? setup.launch : runningLaunch(facts, own ?? setup.launch);
  const budgets =
    model.known && path.known
      ? known(await gatherBudgets(setup, { model: model.value, path: path.value }, launch, facts, signal))
      : noBudget(path, model);
  return {
    files: setup.files,
    clock: Date,
    server,
    vocabulary,
    model,
    launch,
    launchNotes: facts === undefined || own === undefined ? [] : launchDifferences(facts, own),
    memory: budgets.known ? known(budgets.value.of(launch)) : budgets,
    ...(budgets.known && { budgets: budgets.value }),
    ...(await speed(setup, { facts, launch, path: valueOf(path) }, signal)),
  };
}

/** What was measured of this model: with these options, and with others. */
async function speed(
  { curve, history }: Setup,
  setting: {
    readonly facts: ServerFacts | undefined;
    readonly launch: LaunchOptions;
    readonly path: string | undefined;
  },
  signal: AbortSignal,
): Promise<Pick<Situation, "curve" | "origin" | "curves" | "curveOf">> {
  if (curve !== undefined) return { curve: known(curve) };
  const none = unknown(say`No speed has been measured yet.`, say`Run a depth probe.`);
  const model = setting.facts?.model.path ?? setting.facts?.model.id ?? setting.path;
  if (history === undefined || model === undefined) return { curve: none };
  const { rememberedCurves } = await import("./probe");
  const { facts, launch } = setting;
  const found = await knownOr(
    rememberedCurves(history, { model, build: facts?.build ?? "" }, launch, signal),
  );
  if (!found.known) return { curve: found };
  const { current, all } = found.value;
  return {
    curve: current === undefined ? none : known(current.curve),
    ...(current !== undefined && { origin: current.origin }),
    ...(all.length > 0 && { curves: all }),
    curveOf: (its) => curveWith(all, speedFlags(its)),
  };
}

/** What the server's own command line says, where its process is one of this machine's. */
async function processOptions(
  { programs }: Setup,
  { url }: ServerFacts,
  signal: AbortSignal,
): Promise<LaunchOptions | undefined> {
  const { hostname, port } = new URL(url);
  if (programs === "none" || !/^(127\.|localhost$|\[::1\]$)/.test(hostname)) return undefined;
  const { runningLlamaServers } = await import("../node/machine/processDiscovery");
  const running = await knownOr(runningLlamaServers(signal));
  return valueOf(running)?.find(({ urls }) => urls.some((its) => new URL(its).port === port))?.options;
}

async function connect(setup: Setup, signal: AbortSignal): Promise<Known<ConnectedServer>> {
  if (setup.server === "none") return noServer;
  const options = { processes: setup.programs !== "none", ...setup.server };
  const discovery = await discoverServer(options, signal);
  return discovery.found === undefined ? missing(options, discovery) : known(discovery.found);
}

const noServer = unknown(
  say`No llama-server answers on this machine.`,
  say`Start llama-server, or set its address (llamaGauge.server.url).`,
);

/** Why none answers: the configured one's own error, else that of a server that is there but not ready. */
function missing(options: DiscoveryOptions, { tries }: Discovery): Known<never> {
  const errors = tries.flatMap(({ outcome }) => (typeof outcome === "string" ? [] : [outcome]));
  const telling = errors.find(
    ({ reason }) => options.configured !== undefined || reason === "loading" || reason === "unauthorized",
  );
  return telling === undefined ? noServer : unknownBecause(telling);
}

async function modelPath(setup: Setup, served: string | undefined): Promise<Known<string>> {
  const named = setup.modelPath ?? setup.launch.model;
  if (named !== undefined) return known(named);
  if (served !== undefined && (await isThere(served))) return known(served);
  return served === undefined
    ? unknown(say`No model was chosen.`, say`Choose a model file (llamaGauge.model).`)
    : unknown(
        say`The server's model file is not on this machine.`,
        say`Choose the same model here (llamaGauge.model).`,
      );
}

async function readModel(path: string, signal: AbortSignal): Promise<Model> {
  return modelOf(await readGgufHeader(path, signal));
}

/** Why there is none: no path, or a model that cannot be read. */
const noBudget = (...parts: readonly Known<unknown>[]): Known<never> =>
  parts.find((part) => !part.known) ??
  unknown(say`No model was chosen.`, say`Choose a model file (llamaGauge.model).`);

const noVocabulary = (path: Known<string>): Known<never> =>
  path.known ? unknown(say`The server counts.`, say`Nothing needs to be done.`) : path;
