import type { Layer } from "../../model/model";
import type { GgmlType } from "../../model/ggmlTypes";
import { isStoredInBlocks } from "../contextPlan";
import { swaCells } from "../kvCache";
import { block, perToken, type GraphContext } from "./context";
import type { Tensor } from "./graph";
import { largest } from "../../lists";

export interface AttentionStyle {
  /** Layers whose Q and K stay what their projection is: neither rotary positions nor a norm over heads. */
  readonly noRope?: "all" | "full";
  /** V has a norm over its heads; without a matrix of its own it is K's product, normed apart. */
  readonly valueNorm?: boolean;
  /** Another matrix gates the attention's output. */
  readonly gate?: "matrix" | "withQuery";
}

/** Attention of one layer from its normed input up to, not including, the output projection. */
export function attention(
  context: GraphContext,
  layer: Layer,
  normed: Tensor,
  style: AttentionStyle,
): Tensor {
  const { graph } = context;
  const sizes = attentionSizes(context, layer);
  const rotation = rotations(context, layer);
  const projected = projections(context, layer, normed, sizes, style, rotation);
  if (projected.key !== undefined && projected.value !== undefined) {
    storeKv(context, layer, projected.key, projected.value, projected.fused);
  }
  let out = attend(context, layer, projected.query, sizes);
  if (rotation.value > 0) out = rotated(context, layer, "v_rot", rotation.value, out, sizes.output);
  context.beforeTail();
  if (style.gate === undefined) return out;
  const gate =
    projected.gate === undefined
      ? context.product(block(layer, "attn_gate"), sizes.output, normed)
      : graph.op(sizes.output, graph.view(projected.gate));
  return graph.inPlace(sizes.output, graph.view(out), graph.inPlace(sizes.output, gate));
}

interface Projections {
  readonly query: Tensor;
  readonly key?: Tensor;
  readonly value?: Tensor;
  /** K and V are views of one product. */
  readonly fused: boolean;
  readonly gate?: Tensor;
}

function projections(
  context: GraphContext,
  layer: Layer,
  normed: Tensor,
  sizes: AttentionSizes,
  style: AttentionStyle,
  rotation: Rotations,
): Projections {
  const { graph } = context;
  const keyRotated = (tensor: Tensor): Tensor =>
    rotation.key > 0 ? rotated(context, layer, "k_rot", rotation.key, tensor) : tensor;
  const valueRotated = (tensor: Tensor): Tensor =>
    rotation.value > 0 ? rotated(context, layer, "v_rot", rotation.value, tensor) : tensor;
  const untouched = style.noRope === "all" || (style.noRope === "full" && layer.kind === "attention");
  if (context.has(block(layer, "attn_qkv"))) {
    const all = context.product(block(layer, "attn_qkv"), sizes.query + sizes.key + sizes.value, normed);
    const part = (bytes: number): Tensor => (untouched ? graph.view(all) : positioned(context, all, bytes));
    const query = keyRotated(part(sizes.query));
    const key = keyRotated(part(sizes.key));
    return { query, key, value: valueRotated(graph.view(all)), fused: rotation.value === 0 };
  }
  const place = (projection: Tensor, bytes: number, norm: string): Tensor =>
    untouched ? projection : positioned(context, projection, bytes, norm);
  const wideQuery = style.gate === "withQuery" ? 2 * sizes.query : sizes.query;
  const projection = context.product(block(layer, "attn_q"), wideQuery, normed);
  const gate = style.gate === "withQuery" ? { gate: projection } : {};
  const query = keyRotated(place(projection, sizes.query, block(layer, "attn_q_norm")));
  if (!layer.ownsKv) return { query, fused: false, ...gate };
  if (
    style.valueNorm === true &&
    !context.has(block(layer, "attn_v")) &&
    context.has(block(layer, "attn_k"))
  ) {
    const both = context.product(block(layer, "attn_k"), sizes.key, normed);
    const key = keyRotated(place(both, sizes.key, block(layer, "attn_k_norm")));
    return {
      query,
      key,
      value: valueRotated(graph.op(sizes.value, graph.view(both))),
      fused: false,
      ...gate,
    };
  }
  const makeValue = (): Tensor => {
    const product = context.product(block(layer, "attn_v"), sizes.value, normed);
    return valueRotated(style.valueNorm === true ? graph.op(sizes.value, graph.view(product)) : product);
  };
  const makeKey = (): Tensor =>
    keyRotated(
      place(
        context.product(block(layer, "attn_k"), sizes.key, normed),
        sizes.key,
        block(layer, "attn_k_norm"),
      ),
    );
  // the cache with windows has its own order
  if (context.model.slidingWindow > 0) {
    const key = makeKey();
    return { query, key, value: makeValue(), fused: false, ...gate };
  }
  const value = makeValue();
  return { query, key: makeKey(), value, fused: false, ...gate };
}

export interface AttentionSizes {
  readonly query: number;
  readonly key: number;
  readonly value: number;
  readonly output: number;
}

export function attentionSizes(context: GraphContext, layer: Layer): AttentionSizes {
  return {
    query: perToken(context, layer.heads * layer.keyLength),
    key: perToken(context, layer.kvHeads * layer.keyLength),
    value: perToken(context, layer.kvHeads * layer.valueLength),
    output: perToken(context, layer.heads * layer.valueLength),
  };
}

/** RoPE, or a norm, over the heads: they are a view of the projection, and ggml does not write over a view. */
function positioned(context: GraphContext, projected: Tensor, bytes: number, norm = ""): Tensor {
  return context.weighed(norm, context.graph.op(bytes, projected, positions(context)));
}

/** One position for each token, four where they have sections (M-RoPE). */
export function positions(context: GraphContext): Tensor {
  return context.input("positions", (context.model.positionSections ? 16 : 4) * context.tokens);
}

/** Rows of the cache the tokens go to: one index each; one per value of V where V is stored transposed. */
function storeKv(context: GraphContext, layer: Layer, key: Tensor, value: Tensor, fused: boolean): void {
  const { graph, tokens, plan, model } = context;
  const own = layer.kvHeads * layer.valueLength;
  const widest = largest(model.layers.map((each) => (each.ownsKv ? each.kvHeads * each.valueLength : 0)));
  const indices = plan.transposedValues ? widest : 1;
  graph.store(key, context.input(`k_idxs ${layer.kind}`, 8 * tokens));
  const kept = !plan.transposedValues || !fused ? value : graph.op(perToken(context, own), value);
  graph.store(kept, context.input(`v_idxs ${layer.kind}`, 8 * tokens * indices));
}

/** K alone, as MLA stores it. */
export function storeKey(context: GraphContext, layer: Layer, key: Tensor): void {
  context.graph.store(key, context.input(`k_idxs ${layer.kind}`, 8 * context.tokens));
}

export function cellsOf(context: GraphContext, layer: Layer): number {
  return layer.kind === "swa" ? swaCells(context.model, context.plan) : context.plan.slot.nCtxSeq;
}

function maskOf(context: GraphContext, layer: Layer): Tensor {
  const bytes = cellsOf(context, layer) * context.tokens * (context.plan.flashAttention ? 2 : 4);
  return context.input(`mask ${layer.kind}`, bytes);
}

/** Fused, or with the score matrix, its softmax in place and the mixed values once more in order. */
export function attend(context: GraphContext, layer: Layer, q: Tensor, sizes: AttentionSizes): Tensor {
  const { graph, plan } = context;
  const cache = context.fetchedCache(layer);
  const mask = maskOf(context, layer);
  if (plan.flashAttention) {
    const read = halved(context, layer, cache);
    return graph.op(sizes.output + scratchBytes(context, layer), q, mask, ...read);
  }
  const scores = graph.op(perToken(context, cellsOf(context, layer) * layer.heads), q, ...cache.slice(0, 1));
  const weights = graph.inPlace(graph.bytesOf(scores), scores, mask);
  const v = cache.slice(1);
  if (plan.transposedValues) return graph.op(sizes.output, graph.op(sizes.output, weights, ...v));
  const values = cellsOf(context, layer) * plan.slot.streams * layer.kvHeads * layer.valueLength;
  const ordered = graph.op(stored(values, plan.typeV), weights, ...v);
  return graph.op(sizes.output, graph.op(sizes.output, weights, ordered));
}

/** K and V as flash attention takes them: in f16 what is f32 (src/llama-graph.cpp `build_attn_mha`). */
function halved(context: GraphContext, layer: Layer, cache: readonly Tensor[]): readonly Tensor[] {
  const { graph, plan, model } = context;
  if (!isFloat(plan.typeK) && !isFloat(plan.typeV)) return cache;
  const cells = cellsOf(context, layer) * plan.slot.streams;
  const [key, own] = cache;
  const half = (tensor: Tensor | undefined, type: GgmlType, values: number): readonly Tensor[] => {
    const sources = tensor === undefined ? [] : [tensor];
    return isFloat(type) ? [graph.op(2 * cells * values, ...sources)] : sources;
  };
  const value =
    model.mla === undefined
      ? half(own, plan.typeV, layer.kvHeads * layer.valueLength)
      : // the latent is its own V
        half(key, plan.typeK, model.mla.kvLoraRank);
  return [...half(key, plan.typeK, layer.kvHeads * layer.keyLength), ...value];
}

const isFloat = (type: GgmlType): boolean => type.name === "f32";

/** Bytes of so many values of a cache. */
export const stored = (values: number, type: GgmlType): number =>
  Math.ceil(values / type.blockValues) * type.blockBytes;

/**
 * Scratch space behind the output. CUDA (`ggml_cuda_flash_attn_ext_get_alloc_size`): f16 copies of what is not f16. Metal
 * (`ggml_metal_op_flash_attn_ext_extra_tmp`): partial results of 32 work groups for up to 32 tokens of each stream.
 */
function scratchBytes(context: GraphContext, layer: Layer): number {
  const { plan, flashScratch, tokens } = context;
  const { streams } = plan.slot;
  if (flashScratch === "metal") {
    const rows = Math.min(32, tokens / streams) * streams;
    return 4 * rows * layer.heads * 32 * (layer.valueLength + 2);
  }
  if (flashScratch !== "cuda" || !plan.flashCopiesCounted) return 0;
  const cells = cellsOf(context, layer) * streams;
  const isHalf = (type: GgmlType): boolean => type.name === "f16" || isFloat(type);
  const key = isHalf(plan.typeK) ? 0 : layer.keyLength * layer.kvHeads;
  const value = isHalf(plan.typeV) || layer.valueLength === 0 ? 0 : layer.valueLength * layer.kvHeads;
  return 2 * cells * (key + value);
}

/** Hadamard rotation of a quantised cache (builds from 8619 on): a product into a new tensor. */
function rotated(
  context: GraphContext,
  layer: Layer,
  name: string,
  size: number,
  tensor: Tensor,
  bytes = context.graph.bytesOf(tensor),
): Tensor {
  const matrix = context.input(`${name} ${layer.kind}`, size * size * 4);
  return context.graph.op(bytes, matrix, tensor);
}

interface Rotations {
  readonly key: number;
  readonly value: number;
}

function rotations(context: GraphContext, layer: Layer): Rotations {
  const { model, plan } = context;
  const owners = model.layers.filter((each) => each.ownsKv && !each.mtp && each.kind === layer.kind);
  const of = (length: (each: Layer) => number, most: number): number => {
    const size = length(layer);
    if (size === 0 || size % 64 !== 0 || owners.some((each) => length(each) !== size)) return 0;
    let side = 64;
    while (side < most && size % (side * 2) === 0) side *= 2;
    return side;
  };
  return {
    key: isStoredInBlocks(plan.typeK) ? of((each) => each.keyLength, 1024) : 0,
    value: isStoredInBlocks(plan.typeV) ? of((each) => each.valueLength, 64) : 0,
  };
}
