import { InvalidArgumentError, type Command } from "commander";
import { formatBytes, formatNumber, formatText } from "../core/format";
import type { LaunchOptions } from "../core/launch/launchOptions";
import type { MemoryDevice } from "../core/memory/devices/memoryDevice";
import type { Budgets } from "../core/memory/budget/budgets";
import type { ContextTable } from "../core/memory/budget/contextTable";
import type { MaxContext } from "../core/memory/budget/maxContext";
import type { MemoryReport } from "../core/memory/budget/memoryReport";
import { differencesOf } from "../core/memory/budget/sources";
import type { Model } from "../core/model/model";
import { modelOf } from "../core/model/modelOf";
import { count, say } from "../core/text";
import { gatherBudgets } from "../app/budgets";
import { FitProbe } from "../node/machine/fitProbe";
import { launchedModelFile } from "../node/gguf/launchedModel";
import { ggufModelSource } from "../node/gguf/ggufModelSource";
import { mebibytes } from "./arguments";
import type { CliCommand, CliContext } from "./command";
import { device, givenLaunch, programsOf, withPrograms, theModel, type ProgramFlags } from "./launch";
import { exitCode, printJson, printLines, table } from "./output";

interface MemoryOptions extends ProgramFlags {
  readonly device: readonly MemoryDevice[];
  readonly margin?: number;
  readonly json?: true;
}

type ProbeChoice = "auto" | "off";

export const addMemory: CliCommand = (program, context) => {
  withDevices(
    program
      .command("memory")
      .description("memory by device that llama-server needs with the arguments after --")
      .option(
        "--probe <auto|off>",
        "auto: measure this machine and run llama-fit-params, unless devices are specified",
        probeChoice,
        "auto",
      ),
  ).action(async (options: MemoryOptions & { readonly probe: ProbeChoice }) => {
    const asked = await launchedModel(context);
    const report = (await budgetsOf(asked, options, options.probe === "auto", context.signal)).of(
      asked.launch,
    );
    if (options.json) printJson(report);
    else printLines(memoryLines(report));
    if (report.verdict === "exceeds") context.finish(exitCode.no);
  });
};

const withDevices = (command: Command): Command =>
  withPrograms(command)
    .option("--device <name=bytes>", "a device and its free memory; can be repeated", device, [])
    .option("--margin <mib>", "MiB to keep free on every device", mebibytes)
    .option("--json", "one JSON document on stdout");

/** Devices that were only named are not there to be asked. */
async function budgetsOf(
  { model, path, launch }: LaunchedModel,
  options: MemoryOptions,
  ask: boolean,
  signal: AbortSignal,
): Promise<Budgets> {
  const { device: named, margin } = options;
  const setup = {
    devices: named.length > 0 ? named : ask ? ("measure" as const) : [],
    programs: await programsOf(options),
    ...(ask && named.length === 0 && { fitProbe: new FitProbe() }),
    ...(margin !== undefined && { marginBytes: margin }),
  };
  return gatherBudgets(setup, { model, path }, launch, undefined, signal);
}

function probeChoice(text: string): ProbeChoice {
  if (text === "auto" || text === "off") return text;
  throw new InvalidArgumentError("auto or off is needed.");
}

export const addMaxContext: CliCommand = (program, context) => {
  withDevices(
    program
      .command("max-context")
      .description(
        "the largest -c that fits, by KV cache type; on this machine, unless devices are specified",
      )
      .option("--table", "memory of every context with every KV type"),
  ).action(async (options: MemoryOptions & { readonly table?: true }) => {
    const asked = await launchedModel(context);
    const budgets = await budgetsOf(asked, options, true, context.signal);
    const largest = budgets.largest(asked.launch);
    const costs = options.table ? budgets.table(asked.launch) : undefined;
    if (options.json) printJson(costs === undefined ? largest : { ...largest, table: costs });
    else
      printLines([...maxContextLines(largest), ...(costs === undefined ? [] : ["", ...tableLines(costs)])]);
    if (largest.nCtx === 0) context.finish(exitCode.no);
  });
};

export interface LaunchedModel {
  readonly model: Model;
  readonly path: string;
  readonly launch: LaunchOptions;
}

/** The options after `--` and the model they name. Problems llama-server would have with them go to stderr. */
export async function launchedModel(context: CliContext): Promise<LaunchedModel> {
  const { signal } = context;
  const launch = await givenLaunch(context);
  const path = theModel(await launchedModelFile(launch, signal));
  return { launch, path, model: modelOf(await ggufModelSource().readHeader(path, signal)) };
}

function memoryLines(report: MemoryReport): string[] {
  const { context, devices, interval, explanation, computed } = report;
  const size = (value: number | undefined): string => (value === undefined ? "" : formatBytes(value));
  const rows = devices.map(({ name, parts, modelBytes, contextBytes, computeBytes, ...device }) => [
    name,
    ...[
      modelBytes,
      parts?.kv ?? contextBytes,
      parts?.recurrent ?? 0,
      computeBytes,
      parts?.other ?? 0,
      device.totalBytes,
      device.freeBytes,
      device.marginBytes,
    ].map(size),
  ]);
  return [
    `-c ${formatNumber(context.nCtx)} · ${formatText(say`${count(context.slots)} slot[s] of ${count(context.nCtxPerSlot)}`)}${context.unified ? " sharing one pool" : ""} · ${report.source}`,
    "",
    ...table([["device", "weights", "KV", "state", "compute", "other", "total", "free", "margin"], ...rows]),
    "",
    `total ${formatBytes(report.totalBytes)} (${formatBytes(interval.lowBytes)} – ${formatBytes(interval.highBytes)}), ${formatNumber(report.bytesPerToken)} B per token of context`,
    ...(computed === undefined ? [] : [`computed from the header: ${formatBytes(computed.totalBytes)}`]),
    ...differencesOf(report).map((line) => formatText(line)),
    report.verdict === "unknown" ? "free memory unknown" : report.verdict,
    ...(report.tightest === undefined ? [] : [formatText(report.tightest.text)]),
    ...(explanation?.lines ?? []).map((line) => formatText(line)),
    ...report.warnings.map(({ code, message }) => `warning ${code}: ${formatText(message)}`),
  ];
}

function tableLines({ contexts, rows }: ContextTable): string[] {
  return table([
    ["K / V", "B/token", ...contexts.map((nCtx) => formatNumber(nCtx))],
    ...rows.map(({ type, allowed, bytesPerToken, cells }) =>
      allowed
        ? [
            type,
            formatNumber(bytesPerToken),
            ...cells.map(
              ({ tightest, totalBytes, verdict }) =>
                `${formatBytes(tightest?.bytes ?? totalBytes)} ${tightest?.device ?? ""} ${verdict}`,
            ),
          ]
        : [type, "refused"],
    ),
  ]);
}

function maxContextLines({ nCtx, limitedBy, perType }: MaxContext): string[] {
  return [
    nCtx === 0
      ? `none: exceeds ${limitedBy === "weights" ? "memory with the weights alone" : limitedBy} at every -c`
      : `-c ${formatNumber(nCtx)} fits, limited by ${limitedBy}`,
    ...table([
      ["-ctk", "-ctv", "-c"],
      ...perType.map((row) => [row.typeK, row.typeV, row.nCtx === 0 ? "none" : formatNumber(row.nCtx)]),
    ]),
  ];
}
