import type { LaunchOptions } from "../launch/launchOptions";
import type { Model } from "../model/model";
import { count, say } from "../text";
import { isHost, type MemoryDevice } from "./devices";
import { breakdown, marginOf, type Breakdown, type BudgetSettings } from "./memoryBudget";
import type { MemoryWarning } from "./memoryReport";
import { contextPlan } from "./contextPlan";

export interface Fitted {
  readonly options: LaunchOptions;
  readonly warnings: readonly MemoryWarning[];
  /** Of these options, where it was made on the way. */
  readonly parts?: Breakdown;
}

const defaultSmallestContext = 4096;

/**
 * What `-fit` (on by default) does before the load (llama.cpp's common/fit.cpp): where a device would keep less than its
 * margin, first the context shrinks if `-c` was not given, by a straight line between two sizes; then layers move to the
 * host if `-ngl` is free. The second step is a search of ours for the same goal, not llama.cpp's own order.
 */
export function fitted(
  model: Model,
  options: LaunchOptions,
  devices: readonly MemoryDevice[],
  settings: BudgetSettings,
): Fitted {
  const gpus = devices.filter((device) => !isHost(device));
  const unchanged: Fitted = { options, warnings: [] };
  const { slot } = contextPlan(model, options, settings.build, settings.caller ?? "server");
  if (options.fit === false || gpus.length === 0 || options.splitMode === "tensor") return unchanged;
  const parts = breakdown(model, options, devices, settings);
  if (shortage(parts, gpus, options) <= 0) return { ...unchanged, parts };
  const lacking = (tried: LaunchOptions): number =>
    shortage(breakdown(model, tried, devices, settings), gpus, tried);

  const warnings: MemoryWarning[] = [];
  let now = options;
  if (slot.fitMayReduce) {
    const nCtx = reducedContext(model, options, slot.nCtx, slot.streams, lacking);
    now = { ...options, ctxSize: nCtx };
    warnings.push({
      code: "fitReducesContext",
      message: say`-c is not given and the whole context of ${count(slot.nCtx)} tokens does not fit: -fit starts the server with ${count(nCtx)}.`,
    });
    if (lacking(now) <= 0) return { options: now, warnings };
  }
  const free = options.gpuLayers === undefined || options.gpuLayers === "auto";
  if (!free || options.tensorSplit !== undefined || (options.overrideTensor ?? []).length > 0) {
    return { options: now, warnings };
  }
  const moved = movedLayers(model, now, lacking);
  if (moved === undefined) return { options: now, warnings };
  warnings.push({
    code: "fitMovesLayers",
    message:
      moved.nCpuMoe === undefined
        ? say`-fit moves layers to host memory, about to -ngl ${count(Number(moved.gpuLayers))}: generation gets slower.`
        : say`-fit moves the experts of about ${count(moved.nCpuMoe)} layers to host memory: generation gets slower.`,
  });
  return { options: moved, warnings };
}

/** Bytes the worst device lacks for its need and `-fit`'s margin, whatever the user's is; 0 or less: all have enough. */
function shortage(parts: Breakdown, gpus: readonly MemoryDevice[], options: LaunchOptions): number {
  return parts.rows.reduce((worst, row, i) => {
    const free = gpus.find((device) => device.name === row.name)?.freeBytes;
    if (free === undefined) return worst;
    const need = row.weights + row.kv + row.recurrent + row.compute.bytes + row.other.bytes;
    return Math.max(worst, need + marginOf(row.name, i, options, {}) - free);
  }, -Infinity);
}

function reducedContext(
  model: Model,
  options: LaunchOptions,
  whole: number,
  streams: number,
  lacking: (options: LaunchOptions) => number,
): number {
  const smallest = Math.min(whole, (options.fitCtx ?? defaultSmallestContext) * streams);
  const atWhole = lacking(options);
  const atSmallest = lacking({ ...options, ctxSize: smallest });
  if (atSmallest >= 0 || model.contextLength === 0) return smallest;
  const share = -atSmallest / (atWhole - atSmallest);
  const unit = 256 * streams;
  return Math.max(smallest, Math.floor((smallest + share * (whole - smallest)) / unit) * unit);
}

function movedLayers(
  model: Model,
  options: LaunchOptions,
  lacking: (options: LaunchOptions) => number,
): LaunchOptions | undefined {
  const blocks = model.layers.length;
  const tries: readonly ((moved: number) => LaunchOptions)[] =
    model.experts === undefined
      ? [(moved) => ({ ...options, gpuLayers: blocks + 1 - moved })]
      : [
          (moved) => ({ ...options, nCpuMoe: moved }),
          (moved) => ({ ...options, cpuMoe: true, gpuLayers: blocks + 1 - moved }),
        ];
  for (const attempt of tries) {
    if (lacking(attempt(blocks)) > 0) continue;
    let low = 0;
    let high = blocks;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (lacking(attempt(middle)) <= 0) high = middle;
      else low = middle;
    }
    return attempt(high);
  }
  return undefined;
}
