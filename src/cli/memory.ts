import { InvalidArgumentError } from "commander";
import { formatBytes, formatNumber, formatText } from "../core/format";
import { parseArguments } from "../core/launch/commandLine";
import type { LaunchOptions } from "../core/launch/launchOptions";
import type { MemoryDevice } from "../core/memory/devices";
import { maxContext, type MaxContext } from "../core/memory/maxContext";
import { memoryBudget } from "../core/memory/memoryBudget";
import type { ComputedMemoryReport } from "../core/memory/memoryReport";
import type { Model } from "../core/model/model";
import { modelOf } from "../core/model/modelOf";
import { say } from "../core/text";
import { UserError } from "../core/userError";
import { probedBudget } from "../core/memory/probe";
import { FitProbe } from "../node/fitProbe";
import { ggufModelSource } from "../node/ggufModelSource";
import { findLlamaProgram } from "../node/llamaPrograms";
import { systemOptions } from "../node/systemOptions";
import type { CliCommand, CliContext } from "./command";
import { printError, printJson, printLines, table } from "./output";

interface MemoryOptions {
  readonly device: readonly MemoryDevice[];
  readonly json?: true;
}

type ProbeChoice = "auto" | "off";

export const addMemory: CliCommand = (program, context) => {
  program
    .command("memory")
    .description("what llama-server needs with the arguments after --, by device")
    .option("--device <name=bytes>", "a device and what is free on it; repeat it for several", device, [])
    .option("--probe <auto|off>", "ask the llama-fit-params on PATH, too", probeChoice, "auto")
    .option("--json", "one JSON document on stdout")
    .action(async (options: MemoryOptions & { readonly probe: ProbeChoice }) => {
      const { model, launch } = await launchedModel(context);
      const computed = memoryBudget(model, launch, options.device);
      // devices that were only named are not there to be asked
      const probed =
        options.probe === "auto" && options.device.length === 0
          ? await probe(model, launch, context.signal)
          : undefined;
      if (options.json) printJson(probed === undefined ? computed : { ...probed, computed });
      else printLines(memoryLines(probed ?? computed));
    });
};

/** What llama.cpp itself says, where it is there and answers; why not goes to stderr. */
async function probe(
  model: Model,
  launch: LaunchOptions,
  signal: AbortSignal,
): Promise<ComputedMemoryReport | undefined> {
  const program = await findLlamaProgram("llama-fit-params");
  if (program === undefined || launch.model === undefined) return undefined;
  try {
    const request = { program, modelPath: launch.model, model, options: launch, devices: [] };
    const correction = await new FitProbe().correction(request, signal);
    return probedBudget(model, launch, [], correction);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    printError(error.message);
    return undefined;
  }
}

function probeChoice(text: string): ProbeChoice {
  if (text === "auto" || text === "off") return text;
  throw new InvalidArgumentError("auto or off is needed.");
}

export const addMaxContext: CliCommand = (program, context) => {
  program
    .command("max-context")
    .description("the largest -c that fits, also by KV cache type")
    .option("--device <name=bytes>", "a device and what is free on it; repeat it for several", device, [])
    .option("--json", "one JSON document on stdout")
    .action(async (options: MemoryOptions) => {
      const { model, launch } = await launchedModel(context);
      const largest = maxContext(model, launch, options.device);
      if (options.json) printJson(largest);
      else printLines(maxContextLines(largest));
    });
};

/** The options after `--` and the model they name. Problems llama-server would have with them go to stderr. */
export async function launchedModel({
  serverArguments,
  signal,
}: CliContext): Promise<{ readonly model: Model; readonly launch: LaunchOptions }> {
  const launch = await launchOptions(serverArguments);
  if (launch.model === undefined) {
    throw new UserError(
      "invalidInput",
      say`No model is named.`,
      say`Give llama-server's arguments after --, with -m M.gguf among them.`,
    );
  }
  return { launch, model: modelOf(await ggufModelSource().readHeader(launch.model, signal)) };
}

export async function launchOptions(serverArguments: readonly string[]): Promise<LaunchOptions> {
  const { options, problems } = parseArguments(serverArguments, process.env);
  for (const problem of problems) printError(`${problem.severity}: ${formatText(problem.message)}`);
  return { ...(await systemOptions()), ...options };
}

export function device(text: string, before: readonly MemoryDevice[]): readonly MemoryDevice[] {
  const match = /^(.+)=(\d{1,16})$/.exec(text);
  if (match?.[1] === undefined)
    throw new InvalidArgumentError("NAME=BYTES is needed, for example CUDA0=25769803776.");
  return [...before, { name: match[1], freeBytes: Number(match[2]) }];
}

function memoryLines(report: ComputedMemoryReport): string[] {
  const { context, devices } = report;
  const rows = devices.map((budget) => [
    budget.name,
    ...[
      budget.parts.weights,
      budget.parts.kv,
      budget.parts.recurrent,
      budget.parts.compute,
      budget.parts.other,
    ].map((part) => formatBytes(part)),
    formatBytes(budget.totalBytes),
    budget.freeBytes === undefined ? "" : formatBytes(budget.freeBytes),
  ]);
  return [
    `-c ${formatNumber(context.nCtx)} · ${context.slots} slots of ${formatNumber(context.nCtxPerSlot)}${context.unified ? " sharing one pool" : ""} · ${report.source}`,
    "",
    ...table([["device", "weights", "KV", "state", "compute", "other", "total", "free"], ...rows]),
    "",
    `total ${formatBytes(report.totalBytes)} (${formatBytes(report.interval.lowBytes)} – ${formatBytes(report.interval.highBytes)}), ${formatNumber(report.bytesPerToken)} B per token of context`,
    ...(report.tightest === undefined ? [] : [formatText(report.tightest.text)]),
    ...report.explanation.lines.map((line) => formatText(line)),
    ...report.warnings.map(({ code, message }) => `warning ${code}: ${formatText(message)}`),
  ];
}

function maxContextLines({ nCtx, limitedBy, perType }: MaxContext): string[] {
  return [
    `-c ${formatNumber(nCtx)}, limited by ${limitedBy}`,
    ...table([
      ["-ctk", "-ctv", "-c"],
      ...perType.map((row) => [row.typeK, row.typeV, formatNumber(row.nCtx)]),
    ]),
  ];
}
