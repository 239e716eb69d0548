import type { LaunchOptions } from "../../launch/launchOptions";
import type { Model } from "../../model/model";
import { count, say } from "../../text";
import { contextPlan, usesMtp } from "../contextPlan";
import { isHost, type MemoryDevice } from "../devices/memoryDevice";
import { readsFeatures } from "./featureDraft";
import { optionsOf, placedByUser, shareLayers, type DeviceShare } from "./fitLayers";
import { marginOf, breakdown, type Breakdown, type BreakdownRow, type BudgetSettings } from "./breakdown";
import type { MemoryWarning } from "./memoryReport";

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
 * host if nothing says where they go.
 */
export function fitted(
  model: Model,
  options: LaunchOptions,
  devices: readonly MemoryDevice[],
  all: BudgetSettings,
): Fitted {
  const settings = measuredByFit(all);
  const gpus = devices.filter((device) => !isHost(device));
  const unchanged: Fitted = { options, warnings: [] };
  const { slot } = contextPlan(model, options, settings.build, settings.caller ?? "server");
  if (options.fit === false || options.splitMode === "tensor") return unchanged;
  if (gpus.length === 0) {
    const { parts, ...rest } = fittedToHost(model, options, devices, settings);
    return settings === all && parts !== undefined ? { ...rest, parts } : rest;
  }
  const parts = breakdown(model, options, devices, settings);
  const used = parts.placed.devices.map(({ device }) => device);
  // whatever margin the user has set, -fit has its own
  const targets = used.map(({ name, freeBytes }, i) => freeBytes - marginOf(name, i, options, {}));
  const now = needs(parts);
  if (now.every((need, i) => need <= (targets[i] ?? 0))) {
    return settings === all ? { ...unchanged, parts } : unchanged;
  }

  const need = (tried: LaunchOptions): readonly number[] => needs(breakdown(model, tried, devices, settings));
  const warnings: MemoryWarning[] = [];
  let chosen = options;
  if (slot.fitMayReduce && sum(now) > sum(targets)) {
    const target = sum(targets) - reserve(model, parts);
    const range = { whole: slot.nCtx, atWhole: sum(now), streams: slot.streams };
    const reduced = reducedContext(options, range, target, (tried) => sum(need(tried)));
    chosen = { ...options, ctxSize: reduced.nCtx };
    if (reduced.nCtx < slot.nCtx) {
      warnings.push({
        code: "fitReducesContext",
        message: say`-c is not set and the whole context of ${count(slot.nCtx)} token[s] does not fit: -fit starts the server with ${count(reduced.nCtx)}.`,
      });
    }
    if (reduced.fits && used.length === 1) return { options: chosen, warnings };
  }
  if (placedByUser(options).length > 0 || (options.splitMode === "row" && used.length > 1)) {
    return { options: chosen, warnings };
  }
  const layers = model.layers.length - (usesMtp(model, options) ? 0 : model.mtpLayers);
  const names = used.map(({ name }) => name);
  const place = (shares: readonly DeviceShare[]): LaunchOptions => optionsOf(chosen, shares, layers, names);
  const experts = model.experts !== undefined;
  const withoutExperts = experts ? need({ ...chosen, cpuMoe: true }) : [];
  const shares = shareLayers({
    layers,
    experts,
    allButExpertsFit: sum(withoutExperts) < sum(targets),
    targets,
    need: (tried) => need(place(tried)),
  });
  warnings.push({ code: "fitMovesLayers", message: moved(shares, layers, names) });
  return { options: place(shares), warnings };
}

/** A draft that reads features cannot be measured alone: `-fit` goes on without it ("failed to measure … the extra model"). */
function measuredByFit(settings: BudgetSettings): BudgetSettings {
  if (settings.draft === undefined || !readsFeatures(settings.draft)) return settings;
  const { draft: _, ...rest } = settings;
  return rest;
}

/** The newest build that was not seen to do so. */
const lastBuildThatLeavesHost = 11_146;

/**
 * Without a GPU the context shrinks to the machine's whole memory, free or not. llama.cpp leaves out what it repacks for the
 * CPU, which only it knows: its context may be larger than said, with `--no-repack` it is equal.
 */
function fittedToHost(
  model: Model,
  options: LaunchOptions,
  devices: readonly MemoryDevice[],
  settings: BudgetSettings,
): Fitted {
  const { slot } = contextPlan(model, options, settings.build, settings.caller ?? "server");
  const total = devices.find(isHost)?.totalBytes;
  const knows = settings.build === undefined || settings.build > lastBuildThatLeavesHost;
  if (total === undefined || !slot.fitMayReduce || !knows) return { options, warnings: [] };
  const need = (parts: Breakdown): number => sum(parts.rows.map(bytesOf));
  const parts = breakdown(model, options, devices, settings);
  const target = total - (options.fitTarget?.[0] ?? 1024) * 2 ** 20;
  if (need(parts) <= target) return { options, warnings: [], parts };
  const range = { whole: slot.nCtx, atWhole: need(parts), streams: slot.streams };
  const { nCtx } = reducedContext(options, range, target, (tried) =>
    need(breakdown(model, tried, devices, settings)),
  );
  if (nCtx >= slot.nCtx) return { options, warnings: [], parts };
  return {
    options: { ...options, ctxSize: nCtx },
    warnings: [
      {
        code: "fitReducesContext",
        message: say`-c is not set and the whole context of ${count(slot.nCtx)} token[s] needs more than all of this machine's memory: -fit starts the server with about ${count(nCtx)}.`,
      },
    ],
  };
}

/** Bytes each device would hold. */
const needs = ({ rows, placed }: Breakdown): readonly number[] =>
  rows.slice(0, placed.devices.length).map(bytesOf);

const bytesOf = ({ weights, kv, recurrent, compute, other }: BreakdownRow): number =>
  weights + kv + recurrent + compute.bytes + other.bytes;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** What several devices are expected to waste, because only whole layers, or thirds of one with experts, go to one. */
function reserve(model: Model, { placed }: Breakdown): number {
  const devices = placed.devices.length;
  if (devices < 2) return 0;
  const perLayer = Math.trunc(sum(placed.weights) / Math.max(1, model.layers.length - model.mtpLayers));
  return Math.trunc(((devices + 1) * perLayer) / (model.experts === undefined ? 2 : 6));
}

function reducedContext(
  options: LaunchOptions,
  { whole, atWhole, streams }: { readonly whole: number; readonly atWhole: number; readonly streams: number },
  target: number,
  need: (options: LaunchOptions) => number,
): { readonly nCtx: number; readonly fits: boolean } {
  const smallest = (options.fitCtx ?? defaultSmallestContext) * streams;
  if (whole <= smallest) return { nCtx: whole, fits: false };
  const atSmallest = need({ ...options, ctxSize: smallest });
  if (target <= atSmallest || atWhole <= atSmallest) return { nCtx: smallest, fits: false };
  const between = ((whole - smallest) * (target - atSmallest)) / (atWhole - atSmallest);
  const unit = 256 * streams;
  const nCtx = Math.floor((smallest + Math.trunc(between)) / unit) * unit;
  return { nCtx: Math.max(nCtx, smallest), fits: true };
}

function moved(
  shares: readonly DeviceShare[],
  layers: number,
  names: readonly string[],
): MemoryWarning["message"] {
  const gpuLayers = sum(shares.map((share) => share.layers));
  const experts = sum(shares.map(({ incomplete, to }) => (to === undefined ? incomplete : incomplete - 1)));
  if (gpuLayers <= layers) {
    return say`-fit moves layers to host memory, to about -ngl ${count(gpuLayers)}: generation gets slower.`;
  }
  if (experts > 0) {
    return say`-fit moves the experts of about ${count(experts)} layer[s] to host memory: generation gets slower.`;
  }
  const each = shares.map((share, i) => `${names[i] ?? ""} ${share.layers}`).join(", ");
  return say`-fit distributes the layers by free memory, about ${each}.`;
}
