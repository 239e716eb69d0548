import { workspace } from "vscode";
import type { ProbeCallbacks } from "./client/speed/depthProbe";
import type { Settings } from "./app/settings";
import { refuseSecondCopy } from "./core/memory/budget/refuseSecondCopy";
import type { ProbeReport } from "./core/bench/probeReport";
import { valueOf } from "./core/known";
import type { LaunchOptions } from "./core/launch/launchOptions";
import type { DepthCurve } from "./core/prefill/depthCurve";
import type { Situation } from "./core/report/situation";
import { say } from "./core/text";
import { UserError } from "./core/userError";
import type { HistoryStore } from "./app/historyStore";
import type { LlamaProgramName } from "./node/machine/llamaPrograms";

/** What llama-bench needs to measure the setup an estimate is made for. */
export interface BenchSetup {
  readonly program: string;
  /** With a model file of this machine. */
  readonly options: LaunchOptions;
  /** Tokens one request may hold. */
  readonly context: number;
  /** What was measured of it before. */
  readonly curve: DepthCurve | undefined;
}

/** Fails with `UserError` where llama-bench cannot run here: no program, no model file, no room for a second copy. */
export async function benchSetup(parts: Situation, settings: Settings): Promise<BenchSetup> {
  const { launch, model, server, memory, curve } = parts;
  const program = await llamaProgram(settings, "llama-bench");
  const options = { ...launch, ...(await modelFile(parts, settings)) };
  if (options.model === undefined && options.hfRepo === undefined) {
    const { why, remedy } = model.known ? noModelFile : model;
    throw new UserError("invalidInput", why, remedy);
  }
  if (memory.known) refuseSecondCopy(memory.value, server.known);
  const context = valueOf(server)?.facts.nCtxPerSlot ?? valueOf(model)?.contextLength ?? 32_768;
  return { program, options, context, curve: valueOf(curve) };
}

const noModelFile = {
  why: say`The model's file is not known on this machine.`,
  remedy: say`Choose it (llamaGauge.model).`,
};

async function modelFile(
  { model, server }: Situation,
  settings: Settings,
): Promise<Pick<LaunchOptions, "model">> {
  if (!model.known) return {};
  const { isThere } = await import("./node/waiting/isThere");
  for (const path of [valueOf(server)?.facts.model.path, settings.model]) {
    if (path !== undefined && path !== "" && (await isThere(path))) return { model: path };
  }
  return {};
}

/** Path of one of the user's llama.cpp programs. Fails with `UserError` where there is none, or where none may be started. */
export async function llamaProgram({ llamaCppFolder }: Settings, name: LlamaProgramName): Promise<string> {
  if (!workspace.isTrusted) {
    throw new UserError(
      "untrusted",
      say`Programs are started only in a trusted workspace.`,
      say`Trust it first.`,
    );
  }
  const { findLlamaProgram } = await import("./node/machine/llamaPrograms");
  const found = await findLlamaProgram(name, llamaCppFolder);
  if (found !== undefined) return found;
  throw new UserError(
    "notFound",
    say`${name} is not found.`,
    say`Name the folder of your llama.cpp (llamaGauge.llamaCppFolder).`,
  );
}

/** The depth probe where no server runs: llama-bench with the options a server would get. Without a model it fails as asking the server did. */
export async function benchProbe(
  parts: Situation,
  settings: Settings,
  callbacks: ProbeCallbacks,
  history: HistoryStore,
  signal: AbortSignal,
): Promise<ProbeReport> {
  const { server, model } = parts;
  if (!server.known && (!model.known || (server.reason !== undefined && server.reason !== "refused"))) {
    throw new UserError(server.reason ?? "refused", server.why, server.remedy);
  }
  const { program, options, context } = await benchSetup(parts, settings);
  const { benchProbeAndRemember } = await import("./app/probe");
  const request = { program, options, maxDepth: context, budgetSeconds: settings.probeSeconds, ...callbacks };
  return benchProbeAndRemember(request, history, signal);
}
