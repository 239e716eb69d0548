import type { LaunchOptions } from "../../launch/launchOptions";
import type { Model } from "../../model/model";
import { budgetWarnings } from "./budgetWarnings";
import { hostName, isHost, type MemoryDevice } from "../devices/memoryDevice";
import { explain, memoryGrowth } from "./budgetExplanation";
import { fitted, type Fitted } from "./fit";
import { hostExtras } from "./hostExtras";
import type { KvCache } from "../kvCache";
import type { ComputedDeviceBudget, HostExtra, KvCacheReport, ComputedMemoryReport } from "./memoryReport";
import { sumBytes } from "../recurrentState";
import { deviceVerdict, overallVerdict } from "./memoryVerdict";
import { type BudgetSettings, type Breakdown, type BreakdownRow, breakdown, marginOf } from "./breakdown";

/**
 * What a model needs with these launch options, by device, computed from its header alone. Devices as llama.cpp lists
 * them; one named Host, CPU or RAM is the budget of host memory. No devices: everything is on the host.
 */
export function memoryBudget(
  model: Model,
  options: LaunchOptions,
  devices: readonly MemoryDevice[],
  settings: BudgetSettings = {},
): ComputedMemoryReport {
  const fit = fitted(model, options, devices, settings);
  const parts = fit.parts ?? breakdown(model, fit.options, devices, settings);
  return report(model, options, devices, settings, parts, fit);
}

function report(
  model: Model,
  asked: LaunchOptions,
  devices: readonly MemoryDevice[],
  settings: BudgetSettings,
  parts: Breakdown,
  { options, warnings }: Fitted,
): ComputedMemoryReport {
  const { plan, placed, caches, state } = parts;
  const extras = hostExtras(model, options, plan, checkpointBytes(parts), settings.build);
  const budgets = parts.rows.map((row, i) =>
    deviceBudget(row, deviceOf(row.name, devices), options, settings, extras, i),
  );
  const total = (pick: (budget: ComputedDeviceBudget) => number): number =>
    budgets.reduce((sum, budget) => sum + pick(budget), 0);
  const growth = memoryGrowth(model, options, devices, settings, parts);
  return {
    source: "computed",
    context: {
      nCtx: plan.slot.nCtx,
      nCtxPerSlot: plan.slot.nCtxPerSlot,
      slots: plan.slot.slots,
      unified: plan.slot.unified,
    },
    kv: caches.map(kvReport),
    recurrentBytes: sumBytes(state),
    devices: budgets,
    totalBytes: total((budget) => budget.totalBytes),
    interval: {
      lowBytes: total((budget) => budget.interval.lowBytes),
      highBytes: total((budget) => budget.interval.highBytes),
    },
    bytesPerToken: growth.reduce((sum, part) => sum + part.bytesPerToken, 0),
    ...overallVerdict(budgets),
    hostExtras: extras,
    explanation: explain(model, parts, growth),
    warnings: [...budgetWarnings(model, asked, plan, placed, devices, settings), ...warnings],
  };
}

const deviceOf = (name: string, devices: readonly MemoryDevice[]): MemoryDevice | undefined =>
  devices.find((device) => (name === hostName ? isHost(device) : device.name === name));

function deviceBudget(
  row: BreakdownRow,
  device: MemoryDevice | undefined,
  options: LaunchOptions,
  settings: BudgetSettings,
  extras: readonly HostExtra[],
  index: number,
): ComputedDeviceBudget {
  const certain = row.weights + row.kv + row.recurrent;
  const interval = {
    lowBytes: certain + row.compute.low + row.other.low,
    highBytes: certain + row.compute.high + row.other.high,
  };
  const extra =
    row.name === hostName
      ? extras.reduce((sum, { when, bytes }) => (when === "atLoad" ? sum + bytes : sum), 0)
      : 0;
  return {
    name: row.name,
    modelBytes: row.weights,
    contextBytes: row.kv + row.recurrent,
    computeBytes: row.compute.bytes,
    totalBytes: certain + row.compute.bytes + row.other.bytes,
    ...(device && {
      freeBytes: device.freeBytes,
      ...(device.totalBytes !== undefined && { deviceBytes: device.totalBytes }),
      ...deviceVerdict(interval, extra, device.freeBytes, marginOf(row.name, index, options, settings)),
    }),
    parts: {
      weights: row.weights,
      kv: row.kv,
      recurrent: row.recurrent,
      compute: row.compute.bytes,
      other: row.other.bytes,
    },
    interval,
  };
}

function kvReport(cache: KvCache): KvCacheReport {
  return {
    cache: cache.cache,
    layers: cache.perLayer.length,
    cells: cache.cells * cache.streams,
    typeK: cache.typeK.name,
    typeV: cache.typeV?.name ?? "none",
    bytes: cache.bytes,
  };
}

/** A checkpoint keeps one sequence's recurrent state and sliding window. */
function checkpointBytes({ plan, caches, state }: Breakdown): number {
  const window = caches.find((cache) => cache.cache === "swa");
  const perSlot = plan.slot.slots * (1 + plan.rollback);
  return (window === undefined ? 0 : window.bytes / window.streams) + sumBytes(state) / perSlot;
}
