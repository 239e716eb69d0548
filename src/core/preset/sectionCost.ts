import type { LaunchOptions } from "../launch/launchOptions";
import type { ModelFacts } from "../launch/launchRules";
import type { MemoryDevice } from "../memory/devices/memoryDevice";
import { memoryBudget } from "../memory/budget/memoryBudget";
import type { BudgetSettings } from "../memory/budget/breakdown";
import type { ComputedDeviceBudget, ComputedMemoryReport, MemoryReport } from "../memory/budget/memoryReport";
import type { Model } from "../model/model";
import type { SectionWait } from "./sectionWait";
import { bytes, count, say, type Text } from "../text";

/** What a section needs, of what is free now and of all the memory there is. */
export interface SectionBudget {
  readonly report: ComputedMemoryReport;
  /** Why it cannot fit even while nothing else runs. */
  readonly beyond?: Text;
}

export function sectionBudget(
  model: Model,
  options: LaunchOptions,
  devices: readonly MemoryDevice[],
  settings: BudgetSettings = {},
): SectionBudget {
  const beyond = beyondMemory(model, options, devices);
  return { report: memoryBudget(model, options, devices, settings), ...(beyond !== undefined && { beyond }) };
}

/** What is said about a section. `wait`: for reading a full prompt, where its speed was measured. */
export function sectionCost({ report, beyond }: SectionBudget, wait?: SectionWait): SectionCost {
  const { context, kv, recurrentBytes, bytesPerToken } = report;
  const kvBytes = kv.reduce((sum, cache) => sum + cache.bytes, 0);
  const [cache, perSlot] = [bytes(kvBytes), count(context.nCtxPerSlot)];
  const lines: Text[] = [
    context.slots > 1
      ? say`${count(context.slots)} slot[s], up to ${perSlot} token[s] each`
      : say`Up to ${perSlot} token[s]`,
    say`KV cache ${cache}, ${bytes(bytesPerToken)} per token`,
    ...(recurrentBytes > 0 ? [say`Recurrent state ${bytes(recurrentBytes)}`] : []),
    ...report.devices.map(({ name, totalBytes: needed, freeBytes }) =>
      freeBytes === undefined
        ? say`${name}: ${bytes(needed)}`
        : say`${name}: ${bytes(needed)} of ${bytes(freeBytes)} free`,
    ),
    say`Computed from the model's header, the way llama.cpp allocates.`,
    ...(wait === undefined ? [] : [wait.line]),
  ];
  const memory = verdictText(report, kvBytes);
  return {
    fits: { fits: true, tight: true, exceeds: false, unknown: null }[report.verdict],
    verdict: wait?.short === undefined ? memory : say`${memory} · ${wait.short}`,
    contextHint: say`${perSlot} token[s] per slot, KV ${cache}`,
    lines,
    ...(beyond !== undefined && { beyond }),
    devices: report.devices.map(rowOf),
  };
}

function verdictText({ verdict, totalBytes, context }: MemoryReport, kvBytes: number): Text {
  const [total, cache, perSlot] = [bytes(totalBytes), bytes(kvBytes), count(context.nCtxPerSlot)];
  switch (verdict) {
    case "fits":
      return say`Fits: ${total}, KV ${cache}, ${perSlot} token[s] per slot`;
    case "tight":
      return say`Tight: ${total}, KV ${cache}, ${perSlot} token[s] per slot`;
    case "exceeds":
      return say`Does not fit: ${total}, KV ${cache}, ${perSlot} token[s] per slot`;
    case "unknown":
      return say`Needs ${total}, KV ${cache}, ${perSlot} token[s] per slot`;
  }
}

function rowOf({ name, parts, totalBytes, freeBytes }: ComputedDeviceBudget): SectionDevice {
  return {
    name,
    weights: parts.weights,
    context: parts.kv + parts.recurrent,
    compute: parts.compute + parts.other,
    total: totalBytes,
    ...(freeBytes !== undefined && { free: freeBytes }),
  };
}

/**
 * Why these options cannot fit even while nothing else runs; undefined where they may. What is free right now says little
 * about a file: the model may be running already.
 */
export function beyondMemory(
  model: Model,
  options: LaunchOptions,
  devices: readonly MemoryDevice[],
): Text | undefined {
  const empty = devices.map((device) => ({ ...device, freeBytes: device.totalBytes ?? device.freeBytes }));
  const { verdict, totalBytes, tightest } = memoryBudget(model, options, empty);
  if (verdict !== "exceeds" || tightest === undefined) return undefined;
  return say`Needs ${bytes(totalBytes)}, which is more than the machine has even when nothing else is running: ${bytes(tightest.shortBytes)} missing on ${tightest.device}.`;
}

/** The facts of a model that the rules for presets need. */
export function modelFacts({ contextLength, rope, layers }: Model): ModelFacts {
  const attention = layers.filter(({ kind }) => kind === "attention" || kind === "swa");
  const same = (values: readonly number[]): number | undefined =>
    values.every((value) => value === values[0]) ? values[0] : undefined;
  const headDimK = same(attention.map(({ keyLength }) => keyLength));
  const headDimV = same(attention.map(({ valueLength }) => valueLength));
  return {
    ...(contextLength <= 0 ? {} : { trained: { contextLength, rope } }),
    ...(headDimK === undefined || headDimK <= 0 ? {} : { headDimK }),
    ...(headDimV === undefined || headDimV <= 0 ? {} : { headDimV }),
  };
}

/** What a section of a preset costs; figures where they are known. */
export interface SectionCost {
  readonly fits: boolean | null;
  /** One line: verdict and the main figures. */
  readonly verdict: Text;
  /** Behind `ctx-size`: what it means for one request, and what it costs. */
  readonly contextHint: Text;
  /** KV bytes per token, context per slot, memory per device, prefill estimate. */
  readonly lines: readonly Text[];
  /** Where it needs more than the devices have in all, whatever else runs. */
  readonly beyond?: Text;
  readonly devices: readonly SectionDevice[];
}

/** One row of a section's budget; bytes. */
export interface SectionDevice {
  readonly name: string;
  readonly weights: number;
  /** KV cache and recurrent state. */
  readonly context: number;
  readonly compute: number;
  readonly total: number;
  readonly free?: number;
}
