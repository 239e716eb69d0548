import type { LaunchOptions } from "../../launch/launchOptions";
import type { Model } from "../../model/model";
import { contextPlan } from "../contextPlan";
import type { MemoryDevice } from "../devices/memoryDevice";
import { memoryBudget } from "./memoryBudget";
import type { BudgetSettings } from "./breakdown";

export interface ContextForTypes {
  readonly typeK: string;
  readonly typeV: string;
  readonly nCtx: number;
}

/** The largest context that fits, as `llama-gauge max-context` prints it; tokens. */
export interface MaxContext {
  readonly nCtx: number;
  /** Name of the device that allows no more, or "training" for the model's own limit; "weights": nothing fits. */
  readonly limitedBy: string;
  readonly perType: readonly ContextForTypes[];
}

/** KV types with a row of their own: of K and of V. */
export const offeredTypes: readonly (readonly [typeK: string, typeV: string])[] = [
  ["f16", "f16"],
  ["q8_0", "f16"],
  ["f16", "q8_0"],
  ["q8_0", "q8_0"],
  ["q8_0", "q4_0"],
  ["q5_1", "q5_1"],
  ["q4_0", "q4_0"],
];

/** Largest `-c` (multiple of 256 per stream, at most the training context per slot) whose verdict is "fits". */
export function maxContext(
  model: Model,
  options: LaunchOptions,
  devices: readonly MemoryDevice[],
  settings: BudgetSettings = {},
): MaxContext {
  const own = largestContext(model, options, devices, settings);
  const perType = offeredTypes.map(([typeK, typeV]): ContextForTypes => {
    const typed: LaunchOptions = { ...options, cacheTypeK: typeK, cacheTypeV: typeV };
    return {
      typeK,
      typeV,
      nCtx: kvTypesAllowed(model, typed) ? largestContext(model, typed, devices, settings).nCtx : 0,
    };
  });
  return { ...own, perType };
}

/**
 * Whether llama-server takes the KV types of these options: a quantised V needs flash attention, heads must be whole blocks,
 * and a model that stores K only has one type.
 */
export function kvTypesAllowed(model: Model, options: LaunchOptions): boolean {
  const { typeK, typeV, flashAttention } = contextPlan(model, options, undefined, "server");
  const keysOnly = model.mla !== undefined || model.rules?.compressed === true;
  if (keysOnly && typeK.name !== typeV.name) return false;
  if (typeV.blockValues > 1 && !flashAttention) return false;
  return model.layers.every(
    (layer) =>
      !layer.ownsKv ||
      (layer.keyLength % typeK.blockValues === 0 && layer.valueLength % typeV.blockValues === 0),
  );
}

export function largestContext(
  model: Model,
  options: LaunchOptions,
  devices: readonly MemoryDevice[],
  settings: BudgetSettings,
): { readonly nCtx: number; readonly limitedBy: string } {
  const { ctxSize: _ctx, kvUnifiedPerSlot: _pool, ...rest } = options;
  const asked = (nCtx: number): LaunchOptions => ({ ...rest, ctxSize: nCtx, fit: false });
  const { slot } = contextPlan(model, asked(256), settings.build, settings.caller ?? "server");
  const unit = 256 * slot.streams;
  const most = Math.floor((slot.trainingContext * slot.streams) / unit);
  const at = (units: number): ReturnType<typeof memoryBudget> =>
    memoryBudget(model, asked(units * unit), devices, settings);
  const fits = (units: number): boolean => {
    const { verdict } = at(units);
    return verdict === "fits" || verdict === "unknown";
  };
  if (most === 0) return { nCtx: 0, limitedBy: "training" };
  if (fits(most)) return { nCtx: most * unit, limitedBy: "training" };
  if (!fits(1)) return { nCtx: 0, limitedBy: at(1).tightest?.device ?? "weights" };
  let low = 1;
  let high = most;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return { nCtx: low * unit, limitedBy: at(high).tightest?.device ?? "weights" };
}
