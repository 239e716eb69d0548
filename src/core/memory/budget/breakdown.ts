import { given } from "../../given";
import { cacheTypes } from "../../model/ggmlTypes";
import type { LaunchOptions } from "../../launch/launchOptions";
import type { Model } from "../../model/model";
import { usesMtp, f16, contextPlan, type Caller, type ContextPlan } from "../contextPlan";
import { type MemoryDevice, isHost, hostName } from "../devices/memoryDevice";
import { exactly, computeBuffers, type ByteEstimate } from "../graph/computeBuffers";
import { mtpCache, kvCaches, type KvCache, type LayerBytes } from "../kvCache";
import { rowPadding, placement, host, type Placement } from "../placement";
import { projectorNeed, type Projector } from "../projector/projector";
import { readsFeatures, ownOutput, draftLogits } from "./featureDraft";
import { recurrentState, sumBytes } from "../recurrentState";
import type { VisionBytes } from "../projector/visionGraphs";

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
  readonly compute: ByteEstimate;
  readonly other: ByteEstimate;
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
    ...given({
      ...{ parallel, kvUnified, batchSize, flashAttn, kvOffload, opOffload, mainGpu },
      splitMode: options.splitMode,
      tensorSplit: options.tensorSplit,
      ubatchSize: (specDraftNUbatch ?? 0) > 0 ? specDraftNUbatch : ubatchSize,
      cacheTypeK: specDraftTypeK,
      cacheTypeV: specDraftTypeV,
      gpuLayers: specDraftNgl,
      devices: specDraftDevices ?? options.devices,
    }),
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

function together(own: ByteEstimate, beside: BreakdownRow | undefined): ByteEstimate {
  if (beside === undefined) return own;
  const { weights, kv, recurrent, compute, other } = beside;
  return sumOf(own, sumOf(exactly(weights + kv + recurrent), sumOf(compute, other)));
}

const sumOf = (one: ByteEstimate, other: ByteEstimate): ByteEstimate => ({
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
): ByteEstimate {
  const mtp = draft === undefined ? exactly(0) : mtpOn(model, plan, placed, draft, device);
  return projector === undefined ? mtp : sumOf(mtp, projectorOn(projector, options, plan, placed, device));
}

/** Factors of its compute buffer as measured; the interval holds the error. */
function mtpOn(
  model: Model,
  plan: ContextPlan,
  placed: Placement,
  draft: KvCache,
  device: number,
): ByteEstimate {
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
): ByteEstimate {
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
