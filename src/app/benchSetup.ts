import type { ProbeReport } from "../core/bench/probeReport";
import { refuseSecondCopy } from "../core/memory/budget/refuseSecondCopy";
import { valueOf } from "../core/known";
import type { LaunchOptions } from "../core/launch/launchOptions";
import type { DepthCurve } from "../core/prefill/depthCurve";
import type { Situation } from "../core/report/situation";
import { say } from "../core/text";
import { localModelPath } from "../core/servers/localModelPath";
import { UserError } from "../core/userError";
import type { BenchProbeRequest } from "../node/llamaBench/llamaBenchProbe";
import { findLlamaProgram, type LlamaProgramName } from "../node/machine/llamaPrograms";
import { isThere } from "../node/reading/isThere";
import type { AppHost } from "./host";
import type { HistoryStore } from "./historyStore";
import { benchProbeAndRemember } from "./probe";

/** What llama-bench needs to measure the setup an estimate is made for. */
export interface BenchSetup {
  readonly program: string;
  /** With a model file of this machine. */
  readonly options: LaunchOptions;
  /** Tokens one request may hold. */
  readonly context: number;
  /** Tokens the model was trained for; the context where that is not known. */
  readonly window: number;
  /** What was measured of it before. */
  readonly curve: DepthCurve | undefined;
}

/** What decides which program may be started, and with which model. */
export type BenchHost = Pick<AppHost, "settings" | "trusted">;

/** Fails with `UserError` where llama-bench cannot run here: no program, no model file, no room for a second copy. */
export async function benchSetup(situation: Situation, host: BenchHost): Promise<BenchSetup> {
  const { launch, model, server, memory, curve } = situation;
  const program = await llamaProgram(host, "llama-bench");
  const options = { ...launch, ...(await modelFile(situation, host)) };
  if (options.model === undefined && options.hfRepo === undefined) {
    const { why, remedy } = model.known ? noModelFile : model;
    throw new UserError("invalidInput", why, remedy);
  }
  if (memory.known) refuseSecondCopy(memory.value, server.known);
  const context = valueOf(server)?.facts.nCtxPerSlot ?? valueOf(model)?.contextLength ?? 32_768;
  const window = Math.max(context, valueOf(model)?.contextLength ?? 0);
  return { program, options, context, window, curve: valueOf(curve) };
}

const noModelFile = {
  why: say`The location of the model file on this machine is unknown.`,
  remedy: say`Choose it (llamaGauge.model).`,
};

async function modelFile(
  { model, server }: Situation,
  host: BenchHost,
): Promise<Pick<LaunchOptions, "model">> {
  if (!model.known) return {};
  const facts = valueOf(server)?.facts;
  for (const path of [facts && localModelPath(facts), host.settings().model]) {
    if (path !== undefined && path !== "" && (await isThere(path))) return { model: path };
  }
  return {};
}

/** Path of one of the user's llama.cpp programs. Fails with `UserError` where there is none, or where none may be started. */
export async function llamaProgram(host: BenchHost, name: LlamaProgramName): Promise<string> {
  if (!host.trusted()) {
    throw new UserError(
      "untrusted",
      say`Programs are started only in a trusted workspace.`,
      say`Trust it first.`,
    );
  }
  const found = await findLlamaProgram(name, host.settings().llamaCppFolder);
  if (found !== undefined) return found;
  throw new UserError(
    "notFound",
    say`${name} was not found.`,
    say`Set the folder of your llama.cpp (llamaGauge.llamaCppFolder).`,
  );
}

/** The depth probe where no server runs: llama-bench with the options a server would get. Without a model it fails as asking the server did. */
export async function benchProbe(
  situation: Situation,
  host: BenchHost,
  report: Pick<BenchProbeRequest, "onPlan" | "onProgress">,
  history: HistoryStore,
  signal: AbortSignal,
): Promise<ProbeReport> {
  const { server, model } = situation;
  if (!server.known && (!model.known || (server.reason !== undefined && server.reason !== "refused"))) {
    throw new UserError(server.reason ?? "refused", server.why, server.remedy);
  }
  const { program, options, context } = await benchSetup(situation, host);
  const budgetSeconds = host.settings().probeSeconds;
  return benchProbeAndRemember(
    { program, options, maxDepth: context, budgetSeconds, ...report },
    history,
    signal,
  );
}
