import type { Layer } from "../../model/model";
import { block, perToken, type GraphContext } from "./context";
import type { Tensor } from "./graph";

/** A sequence's shift or state rows taken out of the cache. */
function stateRows(context: GraphContext, values: number): Tensor {
  const { graph, sequences } = context;
  return graph.op(4 * values * sequences, context.input("rs_s_copy", 4 * sequences));
}

export const shiftRows = (context: GraphContext, layer: Layer): Tensor =>
  stateRows(context, layer.state?.shift ?? 0);
export const ssmRows = (context: GraphContext, layer: Layer): Tensor =>
  stateRows(context, layer.state?.state ?? 0);

/** New states behind a layer's output; with drafts one for every token that may be rolled back. */
const stateBytes = (context: GraphContext, layer: Layer): number =>
  4 * (layer.state?.state ?? 0) * context.sequences * (1 + context.plan.rollback);

/** Gated delta net of Qwen3-Next and Qwen3.5 (src/models/delta-net-base.cpp), from the normed input to `ssm_out`. */
export function deltaNet(context: GraphContext, layer: Layer, normed: Tensor): Tensor {
  const { graph, model } = context;
  const { innerSize: inner, stateSize, groupCount, timeStepRank: heads } = model.stateKeys;
  const keys = stateSize * groupCount;
  const channels = inner + 2 * keys;
  const shift = shiftRows(context, layer);
  const mixed = context.product(block(layer, "attn_qkv"), perToken(context, channels), normed);
  const padded = graph.op(
    perToken(context, channels) + graph.bytesOf(shift),
    graph.view(shift),
    graph.view(mixed),
  );
  graph.store(graph.view(padded));
  const state = ssmRows(context, layer);
  const convolved = graph.inPlace(perToken(context, channels), graph.op(perToken(context, channels), padded));
  const q = graph.op(perToken(context, keys), graph.view(convolved));
  const k = graph.op(perToken(context, keys), graph.view(convolved));
  const v = graph.view(convolved);
  const [alpha, beta] = decays(context, layer, normed, heads);
  const done = graph.op(perToken(context, inner) + stateBytes(context, layer), q, k, v, alpha, beta, state);
  graph.store(graph.view(done));
  const out = graph.op(perToken(context, inner), graph.view(done));
  const z = context.product(block(layer, "attn_gate"), perToken(context, inner), normed);
  const gate = graph.op(perToken(context, inner), graph.view(z));
  const gated = graph.inPlace(perToken(context, inner), out, gate);
  return context.product(block(layer, "ssm_out"), context.embedding, graph.view(gated));
}

/** alpha and beta: two small products, or one whose halves are copied out (Qwen3-Next). */
function decays(
  context: GraphContext,
  layer: Layer,
  normed: Tensor,
  heads: number,
): readonly [alpha: Tensor, beta: Tensor] {
  const { graph } = context;
  const bytes = perToken(context, heads);
  if (!context.has(block(layer, "ssm_ba"))) return [graph.op(bytes, normed), graph.op(bytes, normed)];
  const both = graph.op(2 * bytes, normed);
  return [graph.op(bytes, graph.view(both)), graph.op(bytes, graph.view(both))];
}

/** Mamba (src/models/mamba-base.cpp), from the normed input to `ssm_out`. `shift` was taken before the norm. */
export function mamba(context: GraphContext, layer: Layer, shift: Tensor, normed: Tensor): Tensor {
  const { graph, model } = context;
  const { innerSize: inner, stateSize, timeStepRank } = model.stateKeys;
  const wideInner = perToken(context, inner);
  const both = context.product(block(layer, "ssm_in"), 2 * wideInner, normed);
  const padded = graph.op(wideInner + graph.bytesOf(shift), graph.view(shift), graph.view(both));
  graph.store(graph.view(padded));
  const x = graph.inPlace(wideInner, graph.op(wideInner, padded));
  const low = graph.op(perToken(context, timeStepRank + 2 * stateSize), x);
  const timeStep = graph.op(wideInner, graph.op(perToken(context, timeStepRank), graph.view(low)));
  const scanned = graph.op(wideInner + stateBytes(context, layer), x, timeStep, graph.view(low));
  graph.store(graph.view(scanned));
  context.beforeTail();
  const z = graph.op(wideInner, graph.view(both));
  const y = graph.inPlace(wideInner, graph.view(scanned), graph.inPlace(wideInner, x));
  return context.product(block(layer, "ssm_out"), context.embedding, graph.op(wideInner, z, y));
}

/**
 * Mamba 2: heads and groups, x, B and C through one convolution, a norm before the output where the model has it.
 * `between` runs when the states are stored.
 */
export function mamba2(
  context: GraphContext,
  layer: Layer,
  shift: Tensor,
  normed: Tensor,
  between: () => void = (): void => context.beforeTail(),
): Tensor {
  const { graph, model } = context;
  const { innerSize: inner, stateSize, groupCount, timeStepRank: heads } = model.stateKeys;
  const wideInner = perToken(context, inner);
  const channels = inner + 2 * groupCount * stateSize;
  const projected = context.size(block(layer, "ssm_in"), 1, inner + channels + heads);
  const all = context.product(block(layer, "ssm_in"), perToken(context, projected), normed);
  const padded = graph.op(
    perToken(context, channels) + graph.bytesOf(shift),
    graph.view(shift),
    graph.view(all),
  );
  graph.store(graph.view(padded));
  const convolved = graph.inPlace(perToken(context, channels), graph.op(perToken(context, channels), padded));
  const timeStep = graph.op(perToken(context, heads), graph.view(all));
  const x = graph.view(convolved);
  const scanned = graph.op(wideInner + stateBytes(context, layer), x, timeStep, graph.view(convolved));
  graph.store(graph.view(scanned));
  between();
  const z = graph.op(wideInner, graph.view(all));
  const skip = graph.op(wideInner, graph.view(convolved));
  const y = graph.inPlace(wideInner, graph.view(scanned), skip);
  const gated = graph.op(wideInner, z, y);
  const last = context.has(block(layer, "ssm_norm")) ? graph.op(wideInner, graph.view(gated)) : gated;
  return context.product(block(layer, "ssm_out"), context.embedding, graph.view(last));
}

/** Short convolution of LFM2 (src/models/lfm2.cpp). */
export function shortConvolution(context: GraphContext, layer: Layer, shift: Tensor, normed: Tensor): Tensor {
  const { graph, embedding } = context;
  const all = context.product(block(layer, "shortconv.in_proj"), 3 * embedding, normed);
  const bx = graph.op(embedding, graph.view(all), graph.view(all));
  const padded = graph.op(embedding + graph.bytesOf(shift), graph.view(shift), graph.view(bx));
  graph.store(graph.view(padded));
  context.beforeTail();
  const convolved = graph.op(embedding, padded);
  const gated = graph.inPlace(embedding, graph.view(all), convolved);
  return context.product(block(layer, "shortconv.out_proj"), embedding, graph.view(gated));
}
