import type { LaunchOptions } from "../../launch/launchOptions";
import type { Layer, Model } from "../../model/model";
import { isStoredInBlocks, type ContextPlan } from "../contextPlan";
import type { Backend } from "../devices/memoryDevice";
import { mainLayers } from "./modelTensors";
import { computeOfStage, computeOnOneBackend, type StageBytes } from "./stageBytes";
import type { Stage } from "./stage";
import { kvCaches } from "../kvCache";
import { host, type Placement } from "../placement";

/** A buffer with the interval its truth lies in; bytes. */
export interface ByteEstimate {
  readonly bytes: number;
  readonly low: number;
  readonly high: number;
}

export interface ComputeBuffers {
  readonly devices: readonly ByteEstimate[];
  readonly host: ByteEstimate;
  /** How many copies of the masks and inputs exist for pipeline parallelism. */
  readonly copies: number;
}

/** `GGML_SCHED_MAX_COPIES`. */
const pipelineCopies = 4;

/**
 * Compute buffers by device. Where each device does one stretch of layers the allocator is replayed for each; where
 * weights or the cache have to come from the other side, an interval is given.
 */
export function computeBuffers(
  model: Model,
  plan: ContextPlan,
  placed: Placement,
  options: LaunchOptions,
): ComputeBuffers {
  const replayed = replayedBuffers(model, plan, placed, options);
  if (model.rules !== undefined && !graphUnknown.test(model.architecture)) return replayed;
  const scores = model.indexerHeads > 0 ? 4 * plan.slot.nCtxSeq * plan.ubatch : 0;
  const widened = (estimate: ByteEstimate): ByteEstimate =>
    estimate.high === 0
      ? estimate
      : {
          bytes: estimate.bytes + indexerRows * scores,
          low: Math.floor(estimate.low * 0.8),
          high: Math.ceil(estimate.high * 1.8 + (model.indexerHeads + indexerRows) * scores),
        };
  return {
    ...replayed,
    devices: replayed.devices.map(widened),
    host: placed.devices.length === 0 ? widened(replayed.host) : replayed.host,
  };
}

/** Tensors of cells × tokens that a sparse-attention indexer keeps where its heads are summed at once. */
const indexerRows = 5;

function replayedBuffers(
  model: Model,
  plan: ContextPlan,
  placed: Placement,
  options: LaunchOptions,
): ComputeBuffers {
  const margin = marginOf(model, plan, placed);
  if (placed.devices.length === 0) {
    return { devices: [], host: around(computeOnOneBackend(model, plan), margin), copies: 1 };
  }
  const layers = mainLayers(model);
  const stretches = placed.devices.map((_, device) => {
    const own = layers.filter((layer) => placed.layerDevice[layer.index] === device);
    return own.length === layers.length ? layers : own;
  });
  const whole = placed.fullyOffloaded && !placed.overridden && plan.kvOffload;
  const split = options.splitMode ?? "layer";
  const pipelined = whole && !placed.hasOverrides && placed.devices.length > 1 && split !== "none";
  const copies = pipelined ? pipelineCopies : 1;
  if (whole) return offloaded(model, plan, placed, stretches, copies, margin);

  const onHost = layers.filter((layer) => (placed.layerDevice[layer.index] ?? host) === host);
  const remote = placed.devices.every(({ backend }) => backend === "rpc") || options.opOffload === false;
  if (remote && !placed.overridden && plan.kvOffload) {
    return parted(model, plan, placed, stretches, onHost, margin);
  }
  return divided(model, plan, placed, layers, options);
}

/** Architectures whose graph is not modelled; their buffers are larger than a plain transformer's. */
const graphUnknown =
  /^(deepseek32|glm-dsa|hy_v4|dots3note|deepseek4|glm5-next|qwen4exp|kimi-linear|kimi-k3|bailingmoe3|minimax-01|minimax-m3|t5)$/;

/** How far the replay was off, as a share, where it was compared with llama.cpp. */
function marginOf(model: Model, plan: ContextPlan, placed: Placement): number {
  return Math.max(plan.buildError, replayError(model, plan, placed));
}

function replayError(model: Model, plan: ContextPlan, placed: Placement): number {
  const { architecture } = model;
  if (model.rules === undefined || graphUnknown.test(architecture)) return 0.25;
  if (graphRough.test(architecture)) return 0.35;
  // with a rotated cache the order of the products differs between these models
  const rotated = isStoredInBlocks(plan.typeK) || isStoredInBlocks(plan.typeV);
  if (rotated && /^(bloom|gpt2|mpt|starcoder|jais|falcon|gptneox|qwen|openelm|plamo3)$/.test(architecture)) {
    return 0.35;
  }
  if (rotated && /^(cohere|command-r|plamo|lfm2|muse|spark|minicpm3)/.test(architecture)) return 0.1;
  const onDevice = placed.devices.length > 0;
  if (onDevice && architecture === "gemma3n") return 0.1;
  if (/^(nemotron_h|rwkv)/.test(architecture) || (model.mla !== undefined && !plan.flashAttention))
    return 0.06;
  return placed.devices.some(({ backend }) => backend === "metal") ? 0.05 : 0.005;
}

const sharesCache = ({ kind, ownsKv }: Layer): boolean => !ownsKv && (kind === "attention" || kind === "swa");

/** Copies of a shared cache seen at once where a device fetches it from the host (Gemma 3n). */
const fetchedByShared = 12;

/** Products of fewer rows stay with their matrix on the host. */
const offloadRows = 32;

/** Graphs modelled roughly: encoders and diffusion models, and some whose order of products is another. */
const graphRough =
  /^(dream|llada|llada-moe|rnd1|cogvlm|talkie|hrm_text|k2-horizon|refact|maion-coder|plamo2|jamba)$/;

const alignmentOf = (backend: Backend): number => (backend === "cuda" ? 128 : 32);

function stageOf(
  placed: Placement,
  device: number,
  stretches: readonly (readonly Layer[])[],
  copies: number,
  start: Stage["start"],
): Stage {
  const after = stretches.slice(device + 1).some((stretch) => stretch.length > 0);
  return {
    layers: stretches[device] ?? [],
    start,
    end: after ? "handover" : "logits",
    copies,
    flashScratch: placed.devices[device]?.backend ?? "other",
  };
}

function offloaded(
  model: Model,
  plan: ContextPlan,
  placed: Placement,
  stretches: readonly (readonly Layer[])[],
  copies: number,
  margin: number,
): ComputeBuffers {
  const inputs = new Map<string, number>();
  const note = (bytes: StageBytes): number => {
    for (const [name, size] of bytes.inputs) inputs.set(name, size);
    return bytes.compute;
  };
  let first = true;
  const devices = placed.devices.map(({ backend }, device) => {
    if ((stretches[device] ?? []).length === 0) return exactly(0);
    const stage = stageOf(placed, device, stretches, copies, first ? "copied" : "normed");
    first = false;
    const done = note(computeOfStage(model, plan, stage, alignmentOf(backend)));
    return joined(around(done, margin), crossing(model, plan, placed, stretches, device, copies));
  });
  const embedding = inputs.get("external embeddings") ?? 0;
  const tokens = 8 * plan.ubatch;
  const widened = plan.olderInputs && plan.flashAttention ? 2 : 1;
  const all = [...inputs].reduce(
    (sum, [name, size]) => sum + (name.startsWith("mask ") ? widened * size : size),
    tokens,
  );
  const extra =
    (model.perLayerEmbedding * model.layers.length * embedding) / Math.max(1, model.embeddingLength);
  const branch = model.architecture === "gemma3n" ? embedding : 0;
  const lookups = plan.mixedEmbeddings ? 2 : plan.olderInputs ? 0 : 1;
  return { devices, host: around(copies * all + lookups * embedding + branch + extra, margin), copies };
}

/** What passes between two devices beside the hidden state, where it was measured rather than replayed. */
function crossing(
  model: Model,
  plan: ContextPlan,
  placed: Placement,
  stretches: readonly (readonly Layer[])[],
  device: number,
  copies: number,
): ByteEstimate {
  const own = stretches[device] ?? [];
  const next = stretches.slice(device + 1).find((stretch) => stretch.length > 0)?.[0];
  const later = stretches.slice(0, device).some((stretch) => stretch.length > 0);
  const embedding = 4 * plan.ubatch * model.embeddingLength;
  const inner = 4 * plan.ubatch * model.stateKeys.innerSize;
  if (model.rules?.state === "rwkv") {
    return around((next === undefined ? 0 : copies * embedding) + (later ? 7 * embedding : 0), 0.1);
  }
  const selective = (layer: Layer | undefined): boolean =>
    layer?.kind === "recurrent" && (model.architecture === "mamba" || model.architecture === "jamba");
  const states =
    (selective(next) ? copies * inner : 0) + (later && selective(own[0]) ? 2 * copies * inner : 0);
  const first = own[0]?.index ?? 0;
  const sharing = own.some(sharesCache);
  if (!later || !sharing || placed.devices.length < 2) return around(states, 0.1);
  // layers that use the cache of a layer on another device copy it at every turn
  const caches = kvCaches(model, plan).map((cache) => {
    const source = cache.perLayer[cache.perLayer.length - 1];
    return source !== undefined && source.layer < first ? source.bytes : 0;
  });
  const shared = 3 * copies * caches.reduce((sum, bytes) => sum + bytes, 0);
  return { bytes: states + shared, low: 0, high: states + Math.ceil(shared * 1.1) + 12 * copies * embedding };
}

const joined = (one: ByteEstimate, other: ByteEstimate): ByteEstimate => ({
  bytes: one.bytes + other.bytes,
  low: one.low + other.low,
  high: one.high + other.high,
});

/** The first layers on the host, the others on devices without op offload: each works on its own. */
function parted(
  model: Model,
  plan: ContextPlan,
  placed: Placement,
  stretches: readonly (readonly Layer[])[],
  onHost: readonly Layer[],
  margin: number,
): ComputeBuffers {
  let first = true;
  const inputs = new Map<string, number>();
  const devices = placed.devices.map(({ backend }, device) => {
    const idle = (stretches[device] ?? []).length === 0;
    if (idle && device !== placed.outputDevice) return exactly(0);
    const stage = stageOf(placed, device, stretches, 1, idle ? "hidden" : first ? "sum" : "normed");
    first = false;
    const done = computeOfStage(model, plan, stage, alignmentOf(backend));
    for (const [name, size] of done.inputs) inputs.set(name, size);
    return around(done.compute, Math.max(margin, 0.15));
  });
  const end = placed.outputDevice === host ? "logits" : "nothing";
  // a single layer needs as much as two
  const few = onHost.length === 1 ? [...onHost, ...onHost] : onHost;
  const own: Stage = { layers: few, start: "tokens", end, copies: 1, flashScratch: "other" };
  const done = computeOfStage(model, plan, own, 32);
  // what only the devices' layers read is an input all the same, and those are kept by the host
  let passed = 0;
  for (const [name, size] of inputs) if (!done.inputs.has(name)) passed += size;
  return { devices, host: around(done.compute + passed, Math.max(margin, 0.15)), copies: 1 };
}

/** Weights or the cache are on both sides: buffers depend on what is copied when. */
function divided(
  model: Model,
  plan: ContextPlan,
  placed: Placement,
  layers: readonly Layer[],
  options: LaunchOptions,
): ComputeBuffers {
  const fetched = largestCache(model, plan, placed);
  const copied = options.opOffload === false ? 0 : placed.largestHostMatrix;
  const stage = (start: Stage["start"], end: Stage["end"]): Stage => ({
    layers,
    start,
    end,
    copies: 1,
    flashScratch: "other",
  });
  const matrices = placed.hostMatrices();
  const away = layersOf(matrices);
  const devices = placed.devices.map(({ backend }, device) => {
    // matrices on the host are fetched by the first device that does so, whoever has the layer
    const offloads = device === 0 && options.opOffload !== false && backend !== "rpc";
    const used = placed.layerDevice.includes(device);
    if (!used && !offloads) return exactly(0);
    const own = layers.filter((layer) => {
      const on = placed.layerDevice[layer.index] ?? host;
      return on === device || (offloads && (on === host || away.has(layer.index)));
    });
    const logits =
      placed.outputDevice === device || (placed.outputDevice === host && plan.outputs >= offloadRows);
    const replayed = computeOfStage(
      model,
      plan,
      {
        layers: own,
        start: device === 0 ? "copied" : "normed",
        end: logits ? "logits" : "handover",
        copies: 1,
        flashScratch: backend,
        ...(offloads ? { hostMatrices: matrices } : { expertsElsewhere: matrices }),
        hostCache: (layer) => !plan.kvOffload || placed.layerDevice[layer.index] === host,
      },
      alignmentOf(backend),
    ).compute;
    // holes between what is fetched may force one more copy than the replay finds
    const once = Math.max(
      placed.overridden || model.rules?.state === "rwkv" ? copied : 0,
      plan.kvOffload ? fetched / 2 : fetched,
      own.some(sharesCache) ? fetchedByShared * fetched : 0,
    );
    const least = offloads ? 0.7 : 0.3;
    return { bytes: replayed, low: Math.floor(replayed * least), high: Math.ceil(replayed * 1.1 + once) };
  });
  const { compute, inputs } = computeOfStage(model, plan, stage("tokens", "logits"), 32);
  const embedding = inputs.get("external embeddings") ?? 0;
  const small = [...inputs.values()].reduce((sum, size) => sum + size, 2 * embedding);
  const offloads = placed.devices.some(({ backend }) => backend !== "rpc") && options.opOffload !== false;
  const onHost = offloads
    ? {
        bytes: small,
        low: small * 0.5,
        high: Math.min(Math.max(compute, small), small + 12 * embedding) * 1.1,
      }
    : { bytes: compute, low: small * 0.5, high: compute * 1.1 };
  return { devices, host: onHost, copies: 1 };
}

const layersOfMatrices = new WeakMap<ReadonlyMap<string, number>, ReadonlySet<number>>();

/** Layers that have matrices on the host. */
function layersOf(matrices: ReadonlyMap<string, number>): ReadonlySet<number> {
  const known = layersOfMatrices.get(matrices);
  if (known !== undefined) return known;
  const found = new Set<number>();
  for (const name of matrices.keys()) {
    const layer = /^blk\.(\d+)\./.exec(name)?.[1];
    if (layer !== undefined) found.add(Number(layer));
  }
  layersOfMatrices.set(matrices, found);
  return found;
}

/** The largest layer's cache among those a device has to fetch from the host. */
function largestCache(model: Model, plan: ContextPlan, placed: Placement): number {
  const perLayer = kvCaches(model, plan).flatMap((cache) => cache.perLayer);
  return perLayer.reduce((most, { layer, bytes }) => {
    const onHost = !plan.kvOffload || placed.layerDevice[layer] === host;
    return onHost ? Math.max(most, bytes) : most;
  }, 0);
}

export const exactly = (bytes: number): ByteEstimate => ({ bytes, low: bytes, high: bytes });

const around = (bytes: number, share: number): ByteEstimate => ({
  bytes,
  low: Math.floor(bytes * (1 - share)),
  high: Math.ceil(bytes * (1 + share)),
});
