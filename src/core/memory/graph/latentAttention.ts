import type { Layer, MlaShape } from "../../model/model";
import { attend, positions, storeKey, stored } from "./attention";
import { block, perToken, type GraphContext } from "./context";
import type { Tensor } from "./graph";

/** MLA with the latent absorbed into Q (src/models/deepseek2.cpp), up to the output projection. */
export function latentAttention(context: GraphContext, layer: Layer, mla: MlaShape, normed: Tensor): Tensor {
  const { graph } = context;
  const heads = layer.heads;
  const rope = layer.keyLength - mla.kvLoraRank;
  const query = queryOf(context, layer, normed, heads * mla.keyLength);
  const absorbed = context.product(
    block(layer, "attn_k_b"),
    perToken(context, heads * mla.kvLoraRank),
    graph.view(query),
  );
  const queryRope = graph.op(perToken(context, heads * rope), graph.view(query), positions(context));
  const q = graph.op(perToken(context, heads * layer.keyLength), graph.view(absorbed), queryRope);

  const latent = context.product(block(layer, "attn_kv_a_mqa"), perToken(context, layer.keyLength), normed);
  const value = graph.op(perToken(context, mla.kvLoraRank), graph.view(latent));
  const keyRope = graph.op(perToken(context, rope), graph.view(latent), positions(context));
  const key = graph.op(perToken(context, layer.keyLength), graph.view(value), keyRope);
  storeKey(context, layer, key);

  const inner = perToken(context, heads * mla.kvLoraRank);
  const outer = perToken(context, heads * mla.valueLength);
  if (context.plan.flashAttention) {
    const mixed = attend(context, layer, q, { query: 0, key: 0, value: 0, output: inner });
    context.beforeTail();
    return graph.op(outer, context.product(block(layer, "attn_v_b"), outer, graph.view(mixed)));
  }
  return withoutFlash(context, layer, q, inner, outer);
}

/** The score matrix times the latent, which is copied in order first, then the values of each head. */
function withoutFlash(context: GraphContext, layer: Layer, q: Tensor, inner: number, outer: number): Tensor {
  const { graph, model, plan } = context;
  const cells = plan.slot.nCtxSeq;
  const mask = context.input(`mask ${layer.kind}`, 4 * cells * context.tokens);
  const cache = context.fetchedCache(layer);
  const scores = graph.op(perToken(context, cells * layer.heads), q, ...cache);
  const weights = graph.inPlace(graph.bytesOf(scores), scores, mask);
  const transposed = graph.op(
    stored(cells * plan.slot.streams * (model.mla?.kvLoraRank ?? 0), plan.typeK),
    weights,
    ...cache,
  );
  const mixed = graph.op(inner, weights, transposed);
  const values = context.product(block(layer, "attn_v_b"), outer, graph.view(mixed));
  context.beforeTail();
  return graph.op(outer, graph.view(values));
}

/** DeepSeek files without the split K and V: full K and V of every head. */
export function expandedLatentAttention(context: GraphContext, layer: Layer, normed: Tensor): Projected {
  const { graph, model } = context;
  const heads = layer.heads;
  const rope = Math.min(model.ropeDimensions, layer.keyLength);
  const rank = context.size(block(layer, "attn_kv_a_norm"), 0, 512);
  const nope = layer.keyLength - rope;
  const projected = queryOf(context, layer, normed, heads * layer.keyLength);
  const query = graph.op(perToken(context, heads * layer.keyLength), projected, positions(context));
  const latent = context.product(block(layer, "attn_kv_a_mqa"), perToken(context, rank + rope), normed);
  const normedLatent = graph.op(perToken(context, rank), graph.view(latent));
  const both = context.product(
    block(layer, "attn_kv_b"),
    perToken(context, heads * (nope + layer.valueLength)),
    normedLatent,
  );
  const value = graph.op(perToken(context, heads * layer.valueLength), graph.view(both));
  const keyRope = graph.op(perToken(context, rope), graph.view(latent), positions(context));
  const repeated = graph.op(perToken(context, heads * rope), keyRope);
  const key = graph.op(perToken(context, heads * layer.keyLength), graph.view(both), repeated);
  return { query, key, value };
}

export interface Projected {
  readonly query: Tensor;
  readonly key: Tensor;
  readonly value: Tensor;
}

export function storeExpanded(context: GraphContext, layer: Layer, { key, value }: Projected): void {
  const perToken = context.plan.transposedValues ? layer.kvHeads * layer.valueLength : 1;
  storeKey(context, layer, key);
  context.graph.store(value, context.input(`v_idxs ${layer.kind}`, 8 * context.tokens * perToken));
}

/** Through a low-rank bottleneck where the model has one. */
function queryOf(context: GraphContext, layer: Layer, normed: Tensor, values: number): Tensor {
  const { graph } = context;
  const rank = context.size(block(layer, "attn_q_a"), 1, 0);
  if (rank === 0) return context.product(block(layer, "attn_q"), perToken(context, values), normed);
  const low = context.product(block(layer, "attn_q_a"), perToken(context, rank), normed);
  return context.product(
    block(layer, "attn_q_b"),
    perToken(context, values),
    graph.inPlace(perToken(context, rank), low),
  );
}
