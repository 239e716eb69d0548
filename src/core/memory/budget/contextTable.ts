import type { LaunchOptions } from "../../launch/launchOptions";
import type { Model } from "../../model/model";
import type { MemoryDevice } from "../devices/memoryDevice";
import { kvTypesAllowed, largestContext, offeredTypes } from "./maxContext";
import { memoryBudget } from "./memoryBudget";
import type { BudgetSettings } from "./breakdown";
import type { MemoryVerdict } from "./memoryReport";

/** What every `-c` costs with every KV type, other options as they are. */
export interface ContextTable {
  /** Columns: `-c`, ascending. */
  readonly contexts: readonly number[];
  readonly rows: readonly TypeRow[];
}

export interface TypeRow {
  /** Of K and V, where they differ as `q8_0 / f16`. */
  readonly type: string;
  readonly typeK: string;
  readonly typeV: string;
  /** false: llama-server refuses the type with this model and these options; the rest is empty then. */
  readonly allowed: boolean;
  readonly bytesPerToken: number;
  /** The largest `-c` that fits; 0: none. */
  readonly largest: number;
  /** A device, "training" or "weights". */
  readonly limitedBy: string;
  readonly cells: readonly ContextCell[];
}

export interface ContextCell {
  readonly nCtx: number;
  /** The device that decides and what it needs; absent where nothing is known of what is free. */
  readonly tightest?: { readonly device: string; readonly bytes: number };
  readonly totalBytes: number;
  readonly verdict: MemoryVerdict;
}

const smallest = 8192;
const columns = 6;

export function contextTable(
  model: Model,
  options: LaunchOptions,
  devices: readonly MemoryDevice[],
  settings: BudgetSettings = {},
): ContextTable {
  const contexts = columnsOf(model);
  const rows = offeredTypes.map(([typeK, typeV]): TypeRow => {
    const named = { type: typeK === typeV ? typeK : `${typeK} / ${typeV}`, typeK, typeV };
    const typed: LaunchOptions = { ...options, cacheTypeK: typeK, cacheTypeV: typeV };
    if (!kvTypesAllowed(model, typed)) {
      return { ...named, allowed: false, bytesPerToken: 0, largest: 0, limitedBy: "", cells: [] };
    }
    const budgets = contexts.map((nCtx) => memoryBudget(model, at(typed, nCtx), devices, settings));
    const { nCtx: largest, limitedBy } = largestContext(model, typed, devices, settings);
    return {
      ...named,
      allowed: true,
      bytesPerToken: budgets[0]?.bytesPerToken ?? 0,
      largest,
      limitedBy,
      cells: budgets.map((budget, i) => cellOf(contexts[i] ?? 0, budget)),
    };
  });
  return { contexts, rows };
}

/** As it is asked for: `-fit` would put layers elsewhere and make rows incomparable. */
const at = ({ kvUnifiedPerSlot: _, ...options }: LaunchOptions, ctxSize: number): LaunchOptions => ({
  ...options,
  ctxSize,
  fit: false,
});

function cellOf(nCtx: number, report: ReturnType<typeof memoryBudget>): ContextCell {
  const { totalBytes, verdict, tightest } = report;
  const device = report.devices.find(({ name }) => name === tightest?.device);
  return {
    nCtx,
    totalBytes,
    verdict,
    ...(device && { tightest: { device: device.name, bytes: device.totalBytes } }),
  };
}

/** Powers of two from 8K, up to the training context or as many as fit on a screen. */
function columnsOf({ contextLength }: Model): readonly number[] {
  const most = contextLength > 0 ? contextLength : smallest * 2 ** (columns - 1);
  const found: number[] = [];
  for (let nCtx = smallest; nCtx <= most; nCtx *= 2) found.push(nCtx);
  return found.length === 0 ? [most] : found.slice(0, columns);
}
