import type { LaunchOptions } from "../../launch/launchOptions";
import { cacheTypes } from "../../model/ggmlTypes";
import type { Model } from "../../model/model";
import { budgetWarnings } from "./budgetWarnings";
import { computeBuffers, exactly, type Estimate } from "../graph/computeBuffers";
import { contextPlan, f16, usesMtp, type Caller, type ContextPlan } from "../contextPlan";
import { hostName, isHost, type MemoryDevice } from "../devices/devices";
import { explain, growthOf } from "./explanation";
import { draftLogits, ownOutput, readsFeatures } from "./featureDraft";
import { fitted, type Fitted } from "./fit";
import { hostExtras } from "./hostExtras";
import { kvCaches, mtpCache, type KvCache, type LayerBytes } from "../kvCache";
import type { ComputedDeviceBudget, HostExtra, KvCacheReport, ComputedMemoryReport } from "./memoryReport";
import { projectorNeed, type Projector } from "../projector/projector";
import type { VisionBytes } from "../projector/visionGraphs";
import { host, placement, rowPadding, type Placement } from "../placement";
import { recurrentState, sumBytes } from "../recurrentState";
import { deviceVerdict, overallVerdict } from "./verdict";

export interface BudgetSettings {
  /** llama.cpp's build number; absent means a current one. */
  readonly build?: number;
  /** Whose context it is; llama-server's by default. */
  readonly caller?: Caller;
  /** Bytes to keep free on each device; absent: `-fitt`, else 1 GiB as `-fit` does, 512 MiB on the host. */
  readonly marginBytes?: number;
  /** The `--mmproj` file. */
  readonly projector?: Projector;
  /** The model of `-md`, where it drafts as a model of its own. */
  readonly draft?: Model;
}

/** One launch taken apart, before any comparison with what is free. */
export interface Breakdown {
  readonly plan: ContextPlan;
  readonly placed: Placement;
  readonly caches: readonly KvCache[];
  readonly state: readonly LayerBytes[];
  readonly rows: readonly BreakdownRow[];
  /** Copies of masks and inputs, on the host and on each busy device. */
  readonly maskCopies: number;
}

export interface BreakdownRow {
  readonly name: string;
  readonly weights: number;
  readonly kv: number;
  readonly recurrent: number;
  readonly compute: Estimate;
  readonly other: Estimate;
}

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

export function breakdown(
  model: Model,
  options: LaunchOptions,
  devices: readonly MemoryDevice[],
  settings: BudgetSettings,
): Breakdown {
  const gpus = devices.filter((device) => !isHost(device));
  const placed = placement(model, options, gpus, usesMtp(model, options));
  const busy = placed.devices.filter((_, device) => placed.layerDevice.slice(0, -1).includes(device));
  const backends = busy.map(({ backend }) => backend);
  const plan = contextPlan(model, options, settings.build, settings.caller ?? "server", backends);
  const draft = mtpCache(
    model,
    plan,
    cacheTypes.get(options.specDraftTypeK ?? "f16") ?? f16,
    cacheTypes.get(options.specDraftTypeV ?? "f16") ?? f16,
  );
  const main = kvCaches(model, plan);
  const state = recurrentState(model, plan);
  const compute = computeBuffers(model, plan, placed, options);
  const placeOf = (layer: number): number => (plan.kvOffload ? (placed.layerDevice[layer] ?? host) : host);
  const on = (parts: readonly LayerBytes[], device: number): number =>
    sumBytes(parts.filter(({ layer }) => placeOf(layer) === device));
  const beside = draftModelRows(options, plan, placed, devices, settings);
  const row = (name: string, device: number): BreakdownRow => ({
    name,
    weights: device === host ? placed.hostWeights : (placed.weights[device] ?? 0),
    kv: main.reduce(
      (sum, cache) => sum + on(cache.perLayer, device) + kvPadding(cache, device, placed, placeOf),
      0,
    ),
    recurrent: on(state, device),
    compute: device === host ? compute.host : (compute.devices[device] ?? exactly(0)),
    other: together(
      otherOn(model, options, plan, placed, draft, device, settings),
      beside.find((each) => each.name === name),
    ),
  });
  return {
    plan,
    placed,
    caches: draft === undefined ? main : [...main, draft],
    state,
    maskCopies: compute.copies * (1 + backends.length),
    rows: [...placed.devices.map(({ device }, i) => row(device.name, i)), row(hostName, host)],
  };
}

/** CUDA pads the last row of each quantised K and V tensor to 512 values. */
function kvPadding(
  cache: KvCache,
  device: number,
  placed: Placement,
  placeOf: (layer: number) => number,
): number {
  if (placed.devices[device]?.backend !== "cuda") return 0;
  return cache.perLayer.reduce(
    (sum, { layer, widthK, widthV }) =>
      placeOf(layer) === device
        ? sum +
          rowPadding(cache.typeK, widthK) +
          (cache.typeV === undefined ? 0 : rowPadding(cache.typeV, widthV))
        : sum,
    0,
  );
}

/** A draft model has a context like the main one's, with options of its own for types and placement. */
function draftModelRows(
  options: LaunchOptions,
  plan: ContextPlan,
  placed: Placement,
  devices: readonly MemoryDevice[],
  { draft, projector: _, ...settings }: BudgetSettings,
): readonly BreakdownRow[] {
  if (draft === undefined) return [];
  const { specDraftTypeK, specDraftTypeV, specDraftNgl, specDraftNUbatch, specDraftDevices } = options;
  const { parallel, kvUnified, batchSize, ubatchSize, flashAttn, kvOffload, opOffload, mainGpu } = options;
  const own: LaunchOptions = {
    ctxSize: plan.slot.nCtx,
    fit: false,
    ...given({ parallel, kvUnified, batchSize, flashAttn, kvOffload, opOffload, mainGpu }),
    ...given({ splitMode: options.splitMode, tensorSplit: options.tensorSplit }),
    ...given({ ubatchSize: (specDraftNUbatch ?? 0) > 0 ? specDraftNUbatch : ubatchSize }),
    ...given({ cacheTypeK: specDraftTypeK, cacheTypeV: specDraftTypeV, gpuLayers: specDraftNgl }),
    ...given({ devices: specDraftDevices ?? options.devices }),
  };
  const parts = breakdown(draft, own, devices, settings);
  if (!readsFeatures(draft)) return parts.rows;
  const output = ownOutput(draft) ? parts.placed : placed;
  const name = output.devices[output.outputDevice]?.device.name ?? hostName;
  const logits = draftLogits(draft, parts.plan, options);
  return parts.rows.map((row) =>
    row.name === name && row.compute.bytes < logits ? { ...row, compute: exactly(logits) } : row,
  );
}

/** Without what was not given. */
function given(options: {
  readonly [K in keyof LaunchOptions]: LaunchOptions[K] | undefined;
}): LaunchOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function together(own: Estimate, beside: BreakdownRow | undefined): Estimate {
  if (beside === undefined) return own;
  const { weights, kv, recurrent, compute, other } = beside;
  return sumOf(own, sumOf(exactly(weights + kv + recurrent), sumOf(compute, other)));
}

const sumOf = (one: Estimate, other: Estimate): Estimate => ({
  bytes: one.bytes + other.bytes,
  low: one.low + other.low,
  high: one.high + other.high,
});

/** The MTP context and the projector. */
function otherOn(
  model: Model,
  options: LaunchOptions,
  plan: ContextPlan,
  placed: Placement,
  draft: KvCache | undefined,
  device: number,
  { projector }: BudgetSettings,
): Estimate {
  const mtp = draft === undefined ? exactly(0) : mtpOn(model, plan, placed, draft, device);
  return projector === undefined ? mtp : sumOf(mtp, projectorOn(projector, options, plan, placed, device));
}

/** Factors of its compute buffer as measured; the interval holds the error. */
function mtpOn(model: Model, plan: ContextPlan, placed: Placement, draft: KvCache, device: number): Estimate {
  const last = placed.layerDevice[model.layers.length - 1] ?? host;
  const known = device === (plan.kvOffload ? last : host) ? draft.bytes : 0;
  const mask = draft.cells * plan.ubatch * (plan.flashAttention ? 2 : 4);
  const embedding = 4 * plan.ubatch * model.embeddingLength;
  const compute =
    device === last
      ? Math.max(mask + 11 * embedding, 17 * embedding)
      : device === host
        ? mask + 2 * embedding
        : 0;
  return {
    bytes: known + compute,
    low: known + Math.floor(compute * 0.84),
    high: known + Math.ceil(compute * 1.2),
  };
}

/** Weights and compute buffer on its device, pixels and positions on the host; the largest image is the upper end. */
function projectorOn(
  projector: Projector,
  options: LaunchOptions,
  plan: ContextPlan,
  placed: Placement,
  device: number,
): Estimate {
  const own = projectorDevice(options, placed);
  const need = projectorNeed(projector, options.flashAttn !== "off", options.imageMaxTokens);
  const known = device === own ? projector.weightsBytes : 0;
  const part = ({ compute, inputs }: VisionBytes): number =>
    device === own ? compute : device === host ? inputs : 0;
  const atLoad = part(need.atLoad);
  return {
    bytes: known + atLoad,
    low: known + Math.floor(atLoad * (1 - plan.buildError)),
    high: known + Math.ceil(Math.max(atLoad, part(need.largest)) * (1 + plan.buildError)),
  };
}

/** `--mmproj-device`, else the first device the model uses. */
function projectorDevice({ mmprojOffload, mmprojDevice }: LaunchOptions, { devices }: Placement): number {
  if (mmprojOffload === false || devices.length === 0) return host;
  if (mmprojDevice === undefined) return 0;
  return devices.findIndex(({ device }) => device.name.toLowerCase() === mmprojDevice.toLowerCase());
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
  const growth = growthOf(model, options, devices, settings, parts);
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

export function marginOf(
  name: string,
  index: number,
  options: LaunchOptions,
  settings: BudgetSettings,
): number {
  if (settings.marginBytes !== undefined) return settings.marginBytes;
  if (name === hostName) return 512 * 2 ** 20;
  const targets = options.fitTarget ?? [];
  return (targets[index] ?? targets[targets.length - 1] ?? 1024) * 2 ** 20;
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
