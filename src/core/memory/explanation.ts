import type { LaunchOptions } from "../launch/launchOptions";
import type { Model } from "../model/model";
import { bytes, count, say, type Text } from "../text";
import type { MemoryDevice } from "./devices";
import { breakdown, type Breakdown, type BudgetSettings } from "./memoryBudget";
import type { GrowthPart, MemoryExplanation } from "./memoryReport";

/** A stretch of context long enough for padding and peaks to level out. */
const stretch = 16_384;

/** Growth per token of context beyond the present one, by what grows. */
export function growthOf(
  model: Model,
  options: LaunchOptions,
  devices: readonly MemoryDevice[],
  settings: BudgetSettings,
  now: Breakdown,
): readonly GrowthPart[] {
  const { nCtx, streams } = now.plan.slot;
  const tokens = stretch * streams;
  const { kvUnifiedPerSlot: _, ...asked } = options;
  const longer = breakdown(model, { ...asked, ctxSize: nCtx + tokens }, devices, settings);
  const grown = (pick: (row: Breakdown["rows"][number]) => number): number =>
    longer.rows.reduce((sum, row, i) => sum + pick(row) - pick(now.rows[i] ?? row), 0) / tokens;
  const kv =
    longer.caches.reduce((sum, cache, i) => sum + cache.bytes - (now.caches[i]?.bytes ?? 0), 0) / tokens;
  const compute = grown((row) => row.compute.bytes);
  const other = grown((row) => row.kv + row.other.bytes) - kv;
  const { flashAttention, ubatch } = now.plan;
  const masks = Math.min(compute, now.maskCopies * ubatch * (flashAttention ? 2 : 4));
  const parts: readonly GrowthPart[] = [
    { kind: "masks", bytesPerToken: masks },
    // f16 copies of a quantised cache, or the scores of every head where flash attention is off
    { kind: flashAttention ? "staging" : "other", bytesPerToken: compute - masks },
    { kind: "other", bytesPerToken: other },
  ];
  return [
    { kind: "kv", bytesPerToken: kv },
    ...parts.filter(({ bytesPerToken }) => Math.abs(bytesPerToken) >= 1e-6),
  ];
}

export function explain(model: Model, parts: Breakdown, growth: readonly GrowthPart[]): MemoryExplanation {
  const main = model.layers.filter((layer) => !layer.mtp);
  const withKv = main.filter((layer) => layer.ownsKv).length;
  const of = (kind: string): number => main.filter((layer) => layer.kind === kind).length;
  const lines: Text[] = [];
  lines.push(say`${count(withKv)} of ${count(main.length)} layers keep a KV cache.`);
  if (of("recurrent") > 0) {
    lines.push(
      say`${count(of("recurrent"))} layers keep a recurrent state instead: a fixed size for each slot, whatever the context.`,
    );
  }
  if (of("swa") > 0) {
    lines.push(
      say`${count(of("swa"))} layers see a window of ${count(model.slidingWindow)} tokens only: their cache grows with slots and -ub, not with the context.`,
    );
  }
  const shared = main.filter(
    (layer) => !layer.ownsKv && (layer.kind === "attention" || layer.kind === "swa"),
  ).length;
  if (shared > 0) lines.push(say`${count(shared)} layers use the cache of an earlier layer.`);
  if (model.mla !== undefined) lines.push(say`K and V are one latent vector (MLA): only K is stored.`);
  const per = (kind: GrowthPart["kind"]): number =>
    growth.find((part) => part.kind === kind)?.bytesPerToken ?? 0;
  if (per("kv") > 0) lines.push(say`The KV cache grows by ${bytes(per("kv"))} per token.`);
  if (per("masks") > 0) {
    lines.push(
      parts.placed.devices.length === 0
        ? say`The attention mask adds ${bytes(per("masks"))} per token; it scales with -ub ${count(parts.plan.ubatch)}.`
        : say`The attention mask adds ${bytes(per("masks"))} per token: it is held twice, on the host and on each device, and scales with -ub ${count(parts.plan.ubatch)}.`,
    );
  }
  return { layersWithKv: withKv, layers: main.length, growth, lines };
}
