import type { LaunchOptions } from "../launch/launchOptions";
import type { Model } from "../model/model";
import type { ContextPlan } from "./contextPlan";
import { computeOnOneBackend } from "./graph/modelGraph";
import { graphSizes, type GraphSizes } from "./graphSizes";
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
  readonly masks: number;
}

const pipelineCopies = 4;

/** Compute buffers by device. Exact where one backend does all the work, an interval where work is divided. */
export function computeBuffers(
  model: Model,
  plan: ContextPlan,
  placed: Placement,
  options: LaunchOptions,
): ComputeBuffers {
  const sizes = graphSizes(model, plan);
  const { column, embedding, masks } = sizes;
  const ple = model.perLayerEmbedding * model.layers.length * column;
  const hostInputs = masks + 4 * embedding + ple;
  const peak = peakOf(model, plan, sizes);
  const count = placed.devices.length;
  if (count === 0) {
    return { devices: [], host: around(computeOnOneBackend(model, plan), 0.01), copies: 1, masks };
  }
  const whole = placed.fullyOffloaded && !placed.overridden && plan.kvOffload;
  if (whole && count === 1) {
    return {
      devices: [around(masks + peak - embedding, 0.05)],
      host: around(hostInputs, 0.02),
      copies: 1,
      masks,
    };
  }
  const busy = placed.devices.map((_, i) => placed.layerDevice.includes(i));
  const split = options.splitMode ?? "layer";
  if (whole && split === "layer" && busy.filter(Boolean).length > 1) {
    const last = placed.outputDevice;
    const logits = 4 * model.vocabularySize * plan.outputs;
    const layer = Math.max(sizes.feedForward, sizes.attention, sizes.recurrent);
    const devices = placed.devices.map((_, i) => {
      const base = pipelineCopies * masks;
      if (busy[i] !== true) return exactly(0);
      const bytes =
        i === last
          ? base + Math.max(layer + 7 * embedding, logits + 9 * embedding)
          : base + layer + 12 * embedding;
      return around(bytes, 0.08);
    });
    const host = around(pipelineCopies * masks + 10 * embedding + ple, 0.05);
    return { devices, host, copies: pipelineCopies, masks };
  }
  return divided(placed, sizes, options, peak, ple);
}

/** Weights or the cache are on both sides: buffers depend on what is copied when. */
function divided(
  placed: Placement,
  sizes: GraphSizes,
  options: LaunchOptions,
  peak: number,
  ple: number,
): ComputeBuffers {
  const { masks, embedding, column } = sizes;
  const copied = options.opOffload === false ? 0 : placed.largestHostMatrix;
  const layer = Math.max(sizes.feedForward, sizes.attention, sizes.recurrent);
  const devices = placed.devices.map(({ backend }, i) => {
    const used = placed.layerDevice.includes(i);
    if (!used && (backend === "rpc" || copied === 0 || i > 0)) return exactly(0);
    const work = masks + (i === placed.outputDevice || placed.outputDevice === host ? peak : layer);
    if (backend === "rpc") return { bytes: work, low: work * 0.5, high: work * 1.25 };
    return { bytes: work + copied, low: work * 0.3, high: (work + 2 * copied) * 1.25 };
  });
  const hostWork = masks + peak + 16 * column;
  const inputs = masks + 4 * embedding + ple;
  const offloads = placed.devices.some(({ backend }) => backend !== "rpc") && options.opOffload !== false;
  const host_ = offloads
    ? { bytes: inputs, low: inputs * 0.5, high: Math.max(hostWork, inputs) * 1.1 }
    : { bytes: hostWork, low: inputs * 0.5, high: hostWork * 1.1 };
  return { devices, host: host_, copies: 1, masks };
}

function peakOf(model: Model, plan: ContextPlan, sizes: GraphSizes): number {
  const matrix = 4 * model.vocabularySize * plan.outputs;
  const logits = matrix <= sizes.masks + sizes.embedding ? 0 : sizes.logits;
  return Math.max(sizes.feedForward, sizes.attention, sizes.recurrent, logits);
}

export const exactly = (bytes: number): Estimate => ({ bytes, low: bytes, high: bytes });

const around = (bytes: number, share: number): Estimate => ({
  bytes,
  low: Math.floor(bytes * (1 - share)),
  high: Math.ceil(bytes * (1 + share)),
});
