import type { LaunchOptions } from "../../launch/launchOptions";
import type { Model } from "../../model/model";
import { count, say, type Text } from "../../text";
import type { MemoryDevice } from "../devices/memoryDevice";
import { breakdown, type Breakdown, type BudgetSettings } from "./breakdown";
import type { GrowthPart, MemoryExplanation } from "./memoryReport";

/** A stretch of context long enough for padding and peaks to level out. */
const stretch = 16_384;

/** Growth per token of context beyond the present one, by what grows. */
export function memoryGrowth(
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
    !flashAttention
      ? { kind: "other", of: "scores", bytesPerToken: compute - masks }
      : copiesCache(now)
        ? { kind: "staging", bytesPerToken: compute - masks }
        : { kind: "other", of: "compute", bytesPerToken: compute - masks },
    { kind: "other", bytesPerToken: other },
  ];
  return [
    { kind: "kv", bytesPerToken: kv },
    ...parts.filter(({ bytesPerToken }) => Math.abs(bytesPerToken) >= 1e-6),
  ];
}

/** Whether a CUDA device copies the cache to f16 for flash attention, and counts that. */
function copiesCache({ plan, placed }: Breakdown): boolean {
  const half = [plan.typeK, plan.typeV].every(({ name }) => name === "f16" || name === "f32");
  return !half && plan.flashCopiesCounted && placed.devices.some(({ backend }) => backend === "cuda");
}

export function explain(model: Model, parts: Breakdown, growth: readonly GrowthPart[]): MemoryExplanation {
  const main = model.layers.filter((layer) => !layer.mtp);
  const withKv = main.filter((layer) => layer.ownsKv).length;
  const of = (kind: string): number => main.filter((layer) => layer.kind === kind).length;
  const lines: Text[] = [];
  lines.push(say`${count(withKv)} of ${count(main.length)} layer[s] keep[s|] a KV cache.`);
  if (of("recurrent") > 0) {
    lines.push(
      say`${count(of("recurrent"))} layer[s] keep[s|] a recurrent state instead: a fixed size for each slot, whatever the context.`,
    );
  }
  if (of("swa") > 0) {
    lines.push(
      say`${count(of("swa"))} layer[s] see[s|] a window of ${count(model.slidingWindow)} token[s] only: their cache grows with slots and -ub, not with the context.`,
    );
  }
  const shared = main.filter(
    (layer) => !layer.ownsKv && (layer.kind === "attention" || layer.kind === "swa"),
  ).length;
  if (shared > 0) lines.push(say`${count(shared)} layer[s] use[s|] the cache of an earlier layer.`);
  if (model.mla !== undefined) lines.push(say`K and V are one latent vector (MLA): only K is stored.`);
  const per = (kind: GrowthPart["kind"]): number =>
    growth.find((part) => part.kind === kind)?.bytesPerToken ?? 0;
  if (per("kv") > 0) lines.push(cacheGrowth(main, parts, per("kv")));
  if (per("masks") > 0) lines.push(maskGrowth(parts, per("masks")));
  if (per("staging") > 0) {
    lines.push(
      say`Flash attention's f16 copies of a quantised cache add ${inBytes(per("staging"))} B per token of context.`,
    );
  }
  const { plan } = parts;
  const beside = (of: GrowthPart["of"]): number => growth.find((part) => part.of === of)?.bytesPerToken ?? 0;
  if (beside("scores") > 0) {
    lines.push(
      say`Without flash attention the scores of every head are stored: with what goes with them ${inBytes(beside("scores"))} B per token of context; they scale with -ub ${count(plan.ubatch)}.`,
    );
  }
  if (beside("compute") > 0) {
    lines.push(
      say`Other working memory of attention adds ${inBytes(beside("compute"))} B per token of context.`,
    );
  }
  return { layersWithKv: withKv, layers: main.length, growth, lines };
}

const inBytes = (value: number): ReturnType<typeof count> => count(Math.round(value));

/** The cache's growth taken apart, where all layers that grow are alike. */
function cacheGrowth(main: Model["layers"], { plan }: Breakdown, perToken: number): Text {
  const growing = main.filter(({ ownsKv, kind }) => ownsKv && (kind === "attention" || plan.swaFull));
  const [first] = growing;
  const alike = growing.every(
    ({ kvHeads, keyLength, valueLength }) =>
      kvHeads === first?.kvHeads && keyLength === first.keyLength && valueLength === first.valueLength,
  );
  if (first === undefined || !alike || first.valueLength === 0) {
    return say`The KV cache grows by ${inBytes(perToken)} B per token of context.`;
  }
  const [layers, heads] = [count(growing.length), count(first.kvHeads)];
  const [k, v] = [count(first.keyLength), count(first.valueLength)];
  return say`The KV cache grows by ${inBytes(perToken)} B per token of context: ${layers} layer[s] × ${heads} KV head[s] × (${k} value[s] of K in ${plan.typeK.name} + ${v} of V in ${plan.typeV.name}).`;
}

function maskGrowth({ placed, plan, maskCopies }: Breakdown, perToken: number): Text {
  const [size, ubatch] = [inBytes(perToken), count(plan.ubatch)];
  if (placed.devices.length === 0 || maskCopies < 2) {
    return say`The attention mask adds ${size} B per token of context; it scales with -ub ${ubatch}.`;
  }
  if (maskCopies === 2) {
    return say`The attention mask adds ${size} B per token of context: it is stored twice, on the host and on the device, and scales with -ub ${ubatch}. A formula for the KV cache alone misses this growth.`;
  }
  return say`The attention mask adds ${size} B per token of context: it is stored ${count(maskCopies)} time[s], on the host and on each device, and scales with -ub ${ubatch}. A formula for the KV cache alone misses this growth.`;
}
