import { stat } from "node:fs/promises";
import { runTool } from "../process/runTool";
import type { LaunchOptions } from "../../core/launch/launchOptions";
import { isHost, type MemoryDevice } from "../../core/memory/devices/memoryDevice";
import type { BudgetSettings } from "../../core/memory/budget/breakdown";
import {
  fitPrintArguments,
  parseFitPrint,
  probeCorrection,
  probeRuns,
  type FitPrintRow,
  type ProbeCorrection,
} from "../../core/memory/budget/fitParams";
import type { Model } from "../../core/model/model";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { SharedWork } from "../waiting/sharedWork";

export interface ProbeRequest {
  /** The llama-fit-params to ask. */
  readonly program: string;
  readonly modelPath: string;
  readonly model: Model;
  readonly options: LaunchOptions;
  /** As the same llama.cpp lists them. */
  readonly devices: readonly MemoryDevice[];
  readonly settings?: BudgetSettings;
}

const timeout = 15_000;
const maxOutput = 16 * 2 ** 20;
const maxCached = 64;

/**
 * Asks the user's own llama.cpp what it would allocate (no weights are read) and remembers by how much that differs from
 * our figures: after one probe every `-c` and `-np` is answered at once by `probedBudget`.
 */
export class FitProbe {
  private readonly cache = new Map<string, SharedWork<ProbeCorrection>>();

  async correction(request: ProbeRequest, signal: AbortSignal): Promise<ProbeCorrection> {
    signal.throwIfAborted();
    const key = await cacheKey(request);
    const found = this.cache.get(key);
    if (found?.abandoned === false) return found.result(signal);
    const asked = new SharedWork(async (its) => {
      try {
        return await ask(request, its);
      } catch (error) {
        if (this.cache.get(key) === asked) this.cache.delete(key);
        throw error;
      }
    });
    this.cache.set(key, asked);
    const [oldest] = this.cache.keys();
    if (this.cache.size > maxCached && oldest !== undefined) this.cache.delete(oldest);
    return asked.result(signal);
  }
}

async function ask(request: ProbeRequest, signal: AbortSignal): Promise<ProbeCorrection> {
  const runs = probeRuns(request.model, request.options);
  const [asked, deep] = await Promise.all([
    fitPrint(request.program, fitPrintArguments(request.modelPath, runs.asked), signal),
    fitPrint(request.program, fitPrintArguments(request.modelPath, runs.deep), signal),
  ]);
  return probeCorrection(request.model, runs, { asked, deep }, request.devices, request.settings ?? {});
}

export async function fitPrint(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<readonly FitPrintRow[]> {
  const limits = { milliseconds: timeout, maxBytes: maxOutput, environment: withoutLlamaArguments() };
  const result = await runTool(program, args, limits, signal);
  const rows = result.exitCode === 0 ? parseFitPrint(result.stdout) : undefined;
  if (rows !== undefined) return rows;
  if (result.timedOut) {
    throw new UserError(
      "timeout",
      say`llama-fit-params did not respond within ${String(timeout / 1000)} s.`,
      say`The computed budget is shown instead.`,
    );
  }
  if (result.code === "ENOENT" || result.code === "EACCES") {
    throw new UserError(
      "notFound",
      say`llama-fit-params cannot be started at ${program}.`,
      say`Set the folder of your llama.cpp.`,
    );
  }
  throw new UserError(
    "outsideFailed",
    say`llama-fit-params failed: ${complaint(result.stderr)}`,
    say`The server would reject this too: check the options. The computed budget is shown instead.`,
  );
}

/** The options already hold what the environment says. */
function withoutLlamaArguments(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("LLAMA_ARG_")));
}

/** The first line llama.cpp logged as an error says why; a crash leaves a trace of many lines after it. */
function complaint(stderr: string): string {
  const lines = stderr
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "" && !/failed to enumerate/.test(line));
  const logged =
    lines.find((line) => /^[\d.]+ E /.test(line)) ?? lines.find((line) => /error|fail|invalid/i.test(line));
  return (logged ?? lines.at(-1) ?? "no output").replace(/^[\d.]+ [A-Z] /, "").slice(0, 300);
}

async function cacheKey({
  program,
  modelPath,
  options,
  devices,
  settings,
  model,
}: ProbeRequest): Promise<string> {
  const identity = async (file: string): Promise<string> => {
    const found = await stat(file).catch(() => undefined);
    return `${file}:${found?.size ?? 0}:${found?.mtimeMs ?? 0}`;
  };
  const { ctxSize: _ctx, ...flags } = probeRuns(model, options).asked;
  // what is free decides how layers are shared out
  const shares = devices.filter((device) => !isHost(device)).length > 1 && options.tensorSplit === undefined;
  return JSON.stringify([
    await identity(program),
    await identity(modelPath),
    flags,
    devices.map(({ name, freeBytes }) => [name, shares ? freeBytes : 0]),
    settings?.build,
  ]);
}
