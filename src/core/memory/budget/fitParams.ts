import type { LaunchOptions } from "../../launch/launchOptions";
import type { Model } from "../../model/model";
import { memoryBudget } from "./memoryBudget";
import { breakdown, type Breakdown, type BudgetSettings } from "./breakdown";
import { contextPlan } from "../contextPlan";
import type { MemoryDevice } from "../devices/memoryDevice";
import type { ComputedDeviceBudget, ComputedMemoryReport } from "./memoryReport";
import { overallVerdict, deviceVerdict } from "./memoryVerdict";

/** One line of `llama-fit-params -fitp on`: whole MiB, rounded down. */
export interface FitPrintRow {
  readonly name: string;
  readonly model: number;
  readonly context: number;
  readonly compute: number;
}

/** The rows on llama-fit-params' standard output; undefined where there are none. */
export function parseFitPrint(stdout: string): readonly FitPrintRow[] | undefined {
  const rows = stdout.split(/\r?\n/).flatMap((line): FitPrintRow[] => {
    const match = /^\s*(\S.*?)\s+(\d+)\s+(\d+)\s+(\d+)\s*$/.exec(line);
    const [, name = "", model, context, compute] = match ?? [];
    if (match === null) return [];
    return [{ name, model: Number(model), context: Number(context), compute: Number(compute) }];
  });
  return rows.length === 0 ? undefined : rows;
}

/**
 * The two runs that tell what is to be known. llama-fit-params describes another process than the server: it divides the
 * context for `-np`, and reserves logits for a whole ubatch. In a context of three cells per vocabulary entry the logits
 * find room where the mask was, so the second run shows the graph without them.
 */
export interface ProbeRuns {
  readonly asked: LaunchOptions;
  readonly deep: LaunchOptions;
}

export function probeRuns(model: Model, options: LaunchOptions): ProbeRuns {
  const { slot } = contextPlan(model, options, undefined, "server");
  const { kvUnifiedPerSlot: _, kvUnified: __, specType: ___, specDraftNMax: ____, ...rest } = options;
  const parallel = slot.unified ? 1 : slot.slots;
  const asked = { ...rest, parallel, ctxSize: slot.nCtx, fit: false };
  const deepest = (3 * model.vocabularySize + 8192) * slot.streams;
  return { asked, deep: { ...asked, ctxSize: Math.ceil(Math.max(slot.nCtx * 2, deepest) / 256) * 256 } };
}

/** Whether a probe of one launch is true for another: context and slots are the two numbers it is not bound to. */
export function sameProbe(model: Model, one: LaunchOptions, other: LaunchOptions): boolean {
  const key = (options: LaunchOptions): string => {
    const { ctxSize: _, parallel: __, kvUnified: ___, ...flags } = probeRuns(model, options).asked;
    return fitPrintArguments("", flags).join(" ");
  };
  return key(one) === key(other);
}

/** The arguments that make llama-fit-params see what `options` say. */
export function fitPrintArguments(modelPath: string, options: LaunchOptions): readonly string[] {
  const args = ["-m", modelPath, "-fitp", "on", "--no-repack"];
  const add = (flag: string, value: string | number | undefined): void => {
    if (value !== undefined) args.push(flag, String(value));
  };
  add("-c", options.ctxSize);
  add("-np", options.parallel);
  add("-b", options.batchSize);
  add("-ub", options.ubatchSize);
  add("-ctk", options.cacheTypeK);
  add("-ctv", options.cacheTypeV);
  add("-fa", options.flashAttn);
  add("-ngl", options.gpuLayers);
  add("-sm", options.splitMode);
  add("-mg", options.mainGpu);
  add("-ts", options.tensorSplit?.join(","));
  add(
    "-dev",
    options.devices === undefined
      ? undefined
      : options.devices.length === 0
        ? "none"
        : options.devices.join(","),
  );
  add("--rpc", options.rpc?.join(","));
  add("-ncmoe", options.nCpuMoe);
  add("-ot", options.overrideTensor?.map(({ pattern, buffer }) => `${pattern}=${buffer}`).join(","));
  for (const override of options.overrideKv ?? []) add("--override-kv", override);
  if (options.cpuMoe === true) args.push("-cmoe");
  if (options.swaFull === true) args.push("--swa-full");
  if (options.kvOffload === false) args.push("-nkvo");
  if (options.opOffload === false) args.push("--no-op-offload");
  return args;
}

/** By how much llama.cpp's own figures differ from ours, by device; bytes. Holds for any context and slots. */
export interface ProbeCorrection {
  readonly rows: readonly {
    readonly name: string;
    readonly model: number;
    /** Factor on KV cache and state. */
    readonly context: number;
    readonly compute: number;
  }[];
  /** Every figure agreed within the MiB that is printed. */
  readonly confirmed: boolean;
}

export function probeCorrection(
  model: Model,
  runs: ProbeRuns,
  printed: { readonly asked: readonly FitPrintRow[]; readonly deep: readonly FitPrintRow[] },
  devices: readonly MemoryDevice[],
  settings: BudgetSettings,
): ProbeCorrection {
  const own: BudgetSettings = { ...settings, caller: "fitParams" };
  const asked = breakdown(model, runs.asked, devices, own);
  const deep = breakdown(model, runs.deep, devices, own);
  const rows = printed.asked.map((row) => {
    const ours = rowOf(asked, row.name);
    const oursDeep = rowOf(deep, row.name);
    const rowDeep = printed.deep.find((other) => other.name === row.name);
    const context = (ours?.kv ?? 0) + (ours?.recurrent ?? 0);
    const contextOff = difference(row.context, context);
    return {
      name: row.name,
      model: difference(row.model, ours?.weights ?? 0),
      context: context === 0 || contextOff === 0 ? 1 : (context + contextOff) / context,
      compute: rowDeep === undefined ? 0 : difference(rowDeep.compute, oursDeep?.compute.bytes ?? 0),
    };
  });
  const confirmed = rows.every((row) => row.model === 0 && row.context === 1 && row.compute === 0);
  return { rows, confirmed };
}

const MiB = 2 ** 20;

/** Whole MiB are rounded down, so that up to one MiB is agreement. */
function difference(printedMiB: number, ours: number): number {
  const off = printedMiB * MiB + MiB / 2 - ours;
  return Math.abs(off) <= MiB ? 0 : off;
}

const rowOf = (parts: Breakdown, name: string): Breakdown["rows"][number] | undefined =>
  parts.rows.find((row) => row.name === name);

/** The computed budget moved to what llama.cpp itself said, with the narrow interval that deserves. */
export function probedBudget(
  model: Model,
  options: LaunchOptions,
  devices: readonly MemoryDevice[],
  correction: ProbeCorrection,
  settings: BudgetSettings = {},
): ComputedMemoryReport {
  const computed = memoryBudget(model, options, devices, settings);
  const budgets = computed.devices.map((budget): ComputedDeviceBudget => corrected(budget, correction));
  const sum = (pick: (budget: ComputedDeviceBudget) => number): number =>
    budgets.reduce((total, budget) => total + pick(budget), 0);
  const { tightest: _, verdict: __, ...rest } = computed;
  return {
    ...rest,
    source: "reported",
    devices: budgets,
    totalBytes: sum((budget) => budget.totalBytes),
    interval: {
      lowBytes: sum((budget) => budget.interval.lowBytes),
      highBytes: sum((budget) => budget.interval.highBytes),
    },
    ...overallVerdict(budgets),
  };
}

function corrected(budget: ComputedDeviceBudget, correction: ProbeCorrection): ComputedDeviceBudget {
  const row = correction.rows.find(({ name }) => name === budget.name);
  if (row === undefined) return budget;
  const modelBytes = Math.max(0, budget.modelBytes + row.model);
  const contextBytes = Math.round(budget.contextBytes * row.context);
  const computeBytes = Math.max(0, budget.computeBytes + row.compute);
  const totalBytes = modelBytes + contextBytes + computeBytes + budget.parts.other;
  const interval = { lowBytes: totalBytes - MiB, highBytes: totalBytes + MiB };
  const verdict =
    budget.freeBytes === undefined
      ? {}
      : deviceVerdict(interval, 0, budget.freeBytes, budget.marginBytes ?? 0);
  return {
    ...budget,
    modelBytes,
    contextBytes,
    computeBytes,
    totalBytes,
    parts: {
      ...budget.parts,
      weights: modelBytes,
      kv: budget.parts.kv * row.context,
      recurrent: budget.parts.recurrent * row.context,
      compute: computeBytes,
    },
    interval,
    ...verdict,
  };
}
