import { contextPlan } from "../memory/contextPlan";
import { isHost } from "../memory/devices/memoryDevice";
import type { MemoryReport } from "../memory/budget/memoryReport";
import type { LaunchOptions } from "../launch/launchOptions";
import type { Model } from "../model/model";

/** What has a choice of values whatever the machine. */
type KnobField = "ctxSize" | "cacheTypeK" | "cacheTypeV" | "parallel" | "ubatchSize" | "flashAttn";

/** The launch options a reader can try on a report: how each stands, and what it can be. */
export interface TryableOptions {
  readonly now: Readonly<Record<KnobField, string>>;
  /** `-c` in ascending order, the present one among them. */
  readonly contexts: readonly number[];
  readonly ubatches: readonly number[];
  /** Absent without a GPU. `now` absent: llama-server decides. */
  readonly gpuLayers?: LayerRange;
  /** Absent without a GPU or experts. */
  readonly nCpuMoe?: LayerRange;
}

export interface LayerRange {
  readonly now?: number;
  readonly most: number;
}

const smallestContext = 2048;
/** `-c` steps between two powers of two. */
const steps = [1, 1.25, 1.5, 1.75];
/** Where the header says no training context. */
const usualContext = 131_072;

/** The knobs of a launch, as the context that is really made says it: `-c` not given is the whole training context. */
export function tryableOptions(
  model: Model,
  launch: LaunchOptions,
  { context, devices }: MemoryReport,
  build: number | undefined,
): TryableOptions {
  const plan = contextPlan(model, launch, build, "server");
  const most = (plan.slot.trainingContext || usualContext) * plan.slot.streams;
  const blocks = model.layers.length;
  const gpu = devices.some((device) => !isHost({ ...device, freeBytes: 0 }));
  const { gpuLayers, nCpuMoe, cpuMoe } = launch;
  return {
    now: {
      ctxSize: String(context.nCtx),
      cacheTypeK: plan.typeK.name,
      cacheTypeV: plan.typeV.name,
      parallel: String(context.slots),
      ubatchSize: String(plan.ubatch),
      flashAttn: launch.flashAttn ?? "auto",
    },
    contexts: contextSteps(most, context.nCtx),
    ubatches: ascending(
      [64, 128, 256, 512, 1024, 2048, 4096].filter((size) => size <= plan.batch),
      plan.ubatch,
    ),
    ...(gpu && { gpuLayers: { most: blocks + 1, ...(typeof gpuLayers === "number" && { now: gpuLayers }) } }),
    ...(gpu &&
      model.experts !== undefined && {
        nCpuMoe: { most: blocks, now: cpuMoe === true ? blocks : (nCpuMoe ?? 0) },
      }),
  };
}

function contextSteps(most: number, now: number): readonly number[] {
  const found: number[] = [];
  for (let power = smallestContext; power <= most; power *= 2) {
    for (const step of steps) if (power * step <= most) found.push(power * step);
  }
  return ascending([...found, most], now);
}

const ascending = (values: readonly number[], now: number): readonly number[] =>
  [...new Set([...values, now])].sort((a, b) => a - b);
