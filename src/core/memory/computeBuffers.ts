import type { LaunchOptions } from "../launch/launchOptions";
import type { Layer, Model } from "../model/model";
import type { ContextPlan } from "./contextPlan";
import type { Backend } from "./devices";
import { computeOfStage, computeOnOneBackend, type StageBytes } from "./graph/modelGraph";
import type { Stage } from "./graph/stage";
import { kvCaches } from "./kvCache";
import { host, type Placement } from "./placement";

/** A buffer with the interval its truth lies in; bytes. */
export interface Estimate {
  readonly bytes: number;
  readonly low: number;
  readonly high: number;
}

export interface ComputeBuffers {
  readonly devices: readonly Estimate[];
  readonly host: Estimate;
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
  const known = model.rules !== undefined && !graphUnknown.test(model.architecture);
  const margin = known ? 0.005 : 0.25;
  if (placed.devices.length === 0) {
    return { devices: [], host: around(computeOnOneBackend(model, plan), margin), copies: 1 };
  }
  const layers = model.layers.filter((layer) => !layer.mtp);
  const stretches = placed.devices.map((_, device) =>
    layers.filter((layer) => placed.layerDevice[layer.index] === device),
  );
  const whole = placed.fullyOffloaded && !placed.overridden && plan.kvOffload;
  const split = options.splitMode ?? "layer";
  const pipelined = whole && placed.devices.length > 1 && split !== "none";
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
    staging: placed.devices[device]?.backend === "cuda",
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
    return around(note(computeOfStage(model, plan, stage, alignmentOf(backend))), margin);
  });
  const embedding = inputs.get("external embeddings") ?? 0;
  const tokens = 8 * plan.ubatch;
  const all = [...inputs.values()].reduce((sum, size) => sum + size, tokens);
  const extra =
    (model.perLayerEmbedding * model.layers.length * embedding) / Math.max(1, model.embeddingLength);
  return { devices, host: around(copies * all + 2 * embedding + extra, margin), copies };
}

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
  const own: Stage = { layers: few, start: "tokens", end, copies: 1, staging: false };
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
  const stage = (start: Stage["start"], end: Stage["end"], staging: boolean): Stage => ({
    layers,
    start,
    end,
    copies: 1,
    staging,
  });
  const devices = placed.devices.map(({ backend }, device) => {
    const used = placed.layerDevice.includes(device);
    if (!used && (backend === "rpc" || copied === 0 || device > 0)) return exactly(0);
    const end = device === placed.outputDevice || placed.outputDevice === host ? "logits" : "handover";
    const work = computeOfStage(
      model,
      plan,
      stage("copied", end, backend === "cuda"),
      alignmentOf(backend),
    ).compute;
    if (backend === "rpc") return { bytes: work + fetched / 2, low: work * 0.5, high: (work + fetched) * 1.25 };
    const most = Math.max(copied, fetched);
    return { bytes: work + most, low: work * 0.3, high: (work + Math.max(2 * copied, fetched)) * 1.25 };
  });
  const { compute, inputs } = computeOfStage(model, plan, stage("tokens", "logits", false), 32);
  const embedding = inputs.get("external embeddings") ?? 0;
  const small = [...inputs.values()].reduce((sum, size) => sum + size, 2 * embedding);
  const offloads = placed.devices.some(({ backend }) => backend !== "rpc") && options.opOffload !== false;
  const onHost = offloads
    ? { bytes: small, low: small * 0.5, high: Math.max(compute, small) * 1.1 }
    : { bytes: compute, low: small * 0.5, high: compute * 1.1 };
  return { devices, host: onHost, copies: 1 };
}

/** The largest layer's cache among those a device has to fetch from the host. */
function largestCache(model: Model, plan: ContextPlan, placed: Placement): number {
  const perLayer = kvCaches(model, plan).flatMap((cache) => cache.perLayer);
  return perLayer.reduce((most, { layer, bytes }) => {
    const onHost = !plan.kvOffload || placed.layerDevice[layer] === host;
    return onHost ? Math.max(most, bytes) : most;
  }, 0);
}

export const exactly = (bytes: number): Estimate => ({ bytes, low: bytes, high: bytes });

const around = (bytes: number, share: number): Estimate => ({
  bytes,
  low: Math.floor(bytes * (1 - share)),
  high: Math.ceil(bytes * (1 + share)),
});
