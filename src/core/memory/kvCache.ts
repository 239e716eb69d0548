import { rowBytes, type GgmlType } from "../model/ggmlTypes";
import type { Layer, Model } from "../model/model";
import type { ContextPlan } from "./contextPlan";
import { largest } from "../lists";

export interface LayerBytes {
  readonly layer: number;
  readonly bytes: number;
}

export interface KvLayer extends LayerBytes {
  /** Values of one cell's row. */
  readonly widthK: number;
  readonly widthV: number;
}

/** One KV cache object of llama.cpp. */
export interface KvCache {
  readonly cache: "full" | "swa" | "mla" | "indexer" | "csa" | "hca" | "mtp";
  /** Cells of one stream. */
  readonly cells: number;
  readonly streams: number;
  readonly typeK: GgmlType;
  /** undefined: only K is stored. */
  readonly typeV: GgmlType | undefined;
  readonly perLayer: readonly KvLayer[];
  readonly bytes: number;
}

const pad256 = (cells: number): number => Math.ceil(cells / 256) * 256;

/**
 * The KV caches of a context (llama-kv-cache.cpp, llama-kv-cache-iswa.cpp, llama-kv-cache-dsa.cpp): for each layer that owns
 * KV, cells × streams × (K row + V row). `only` narrows to the MTP blocks or to the rest.
 */
export function kvCaches(model: Model, plan: ContextPlan): readonly KvCache[] {
  if (model.rules?.noCache === true) return [];
  const main = model.layers.filter((layer) => !layer.mtp && layer.ownsKv);
  const { nCtxSeq: cells, streams } = plan.slot;
  if (model.rules?.compressed === true) return compressedCaches(main, model, plan);

  const vWidth = valueWidth(main, plan);
  const cache = (name: KvCache["cache"], layers: readonly Layer[], cellsOf: number): KvCache | undefined =>
    layers.length === 0
      ? undefined
      : build(name, layers, cellsOf, streams, plan, (layer) => [
          layer.keyLength * layer.kvHeads,
          vWidth(layer),
        ]);
  const indexed = main.filter((layer) => layer.indexerWidth !== undefined);
  const indexer =
    indexed.length === 0
      ? undefined
      : build("indexer", indexed, cells, streams, plan, (layer) => indexerWidths(model, layer));
  return [
    cache(
      model.mla === undefined ? "full" : "mla",
      main.filter((layer) => layer.kind === "attention"),
      cells,
    ),
    cache(
      "swa",
      main.filter((layer) => layer.kind === "swa"),
      swaCells(model, plan),
    ),
    indexer,
  ].filter((each) => each !== undefined);
}

/** Cells of the sliding-window cache: window × sequences of the stream + ubatch, padded, at most the context. */
export function swaCells(model: Model, plan: ContextPlan): number {
  const { nCtxSeq, unified, slots } = plan.slot;
  if (plan.swaFull) return nCtxSeq;
  return pad256(Math.min(nCtxSeq, model.slidingWindow * (unified ? slots : 1) + plan.ubatch));
}

/** The draft context's cache for the model's MTP blocks. */
export function mtpCache(
  model: Model,
  plan: ContextPlan,
  typeK: GgmlType,
  typeV: GgmlType,
): KvCache | undefined {
  const layers = model.layers.filter((layer) => layer.mtp && layer.ownsKv);
  if (!plan.mtp || layers.length === 0) return undefined;
  const draft = { ...plan, typeK, typeV };
  const width = valueWidth(layers, draft);
  return build("mtp", layers, plan.slot.nCtxSeq, plan.slot.streams, draft, (layer) => [
    layer.keyLength * layer.kvHeads,
    width(layer),
  ]);
}

/** Without flash attention V is stored transposed, every layer as wide as the widest where they differ. */
function valueWidth(layers: readonly Layer[], plan: ContextPlan): (layer: Layer) => number {
  const own = (layer: Layer): number => layer.valueLength * layer.kvHeads;
  if (!plan.transposedValues) return own;
  const widest = largest(layers.map(own), 0);
  return (layer) => (own(layer) === 0 ? 0 : widest);
}

function indexerWidths(model: Model, layer: Layer): readonly [number, number] {
  const width = layer.indexerWidth ?? 0;
  switch (model.rules?.indexer) {
    case "afterDense":
      return [width, layer.valueLength];
    case "pooled":
      return [width * (model.mla === undefined ? 2 : 3), 0];
    default:
      return [width, 0];
  }
}

/** DeepSeek V4: a raw window for every layer, compressed cells for the layers with a ratio, an indexer over the ratio 4. */
function compressedCaches(layers: readonly Layer[], model: Model, plan: ContextPlan): readonly KvCache[] {
  const { nCtxSeq, slots } = plan.slot;
  const keyOf = (layer: Layer): readonly [number, number] => [layer.keyLength, 0];
  const window = plan.swaFull ? nCtxSeq : pad256(Math.min(nCtxSeq, model.slidingWindow + plan.ubatch));
  const ratio = (value: number): readonly Layer[] => layers.filter((layer) => layer.compressRatio === value);
  const of = (
    cache: KvCache["cache"],
    some: readonly Layer[],
    cells: number,
    widths: (layer: Layer) => readonly [number, number],
  ): readonly KvCache[] => (some.length === 0 ? [] : [build(cache, some, cells, slots, plan, widths)]);
  const indexerWidth = model.indexerKeyLength;
  return [
    ...of("swa", layers, window, keyOf),
    ...of("csa", ratio(4), pad256(Math.ceil(nCtxSeq / 4)), keyOf),
    ...of("hca", ratio(128), pad256(Math.ceil(nCtxSeq / 128)), keyOf),
    ...of("indexer", ratio(4), pad256(Math.ceil(nCtxSeq / 4)), () => [indexerWidth, 0]),
  ];
}

function build(
  cache: KvCache["cache"],
  layers: readonly Layer[],
  cells: number,
  streams: number,
  plan: ContextPlan,
  widths: (layer: Layer) => readonly [number, number],
): KvCache {
  const perLayer = layers.map((layer): KvLayer => {
    const [widthK, widthV] = widths(layer);
    const bytes = cells * streams * (rowBytes(plan.typeK, widthK) + rowBytes(plan.typeV, widthV));
    return { layer: layer.index, bytes, widthK, widthV };
  });
  return {
    cache,
    cells,
    streams,
    typeK: plan.typeK,
    typeV: perLayer.some(({ widthV }) => widthV > 0) ? plan.typeV : undefined,
    perLayer,
    bytes: perLayer.reduce((sum, each) => sum + each.bytes, 0),
  };
}
