import type { Layer } from "../../model/model";
import { attention } from "./attention";
import { block, perToken, type GraphContext } from "./context";
import type { PerLayerInput } from "./gemma";
import type { Tensor } from "./graph";

/** Gemma 3n works on four hidden states at once (src/models/gemma3n.cpp). */
const states = 4;
/** Only the first layers drop small activations. */
const sparseLayers = 10;

/** The token embeddings and their three projections, stacked. */
export function stacked(context: GraphContext, embedded: Tensor): Tensor {
  const { graph, embedding } = context;
  const others = (states - 1) * embedding;
  const projected = graph.op(others, graph.op(others, embedded));
  const own = magnitude(context, graph.op(embedding, embedded));
  const scaledOthers = graph.op(others, projected, own);
  const target = magnitude(context, graph.inPlace(others, projected));
  return graph.op(states * embedding, embedded, graph.inPlace(others, scaledOthers, target));
}

function magnitude(context: GraphContext, squared: Tensor): Tensor {
  return context.graph.op(context.graph.bytesOf(squared) / context.model.embeddingLength, squared);
}

export function altUpLayer(
  context: GraphContext,
  layer: Layer,
  stack: Tensor,
  perLayer: PerLayerInput,
): Tensor {
  const { graph, embedding, model } = context;
  const all = states * embedding;
  const copy = graph.op(all, graph.view(stack));
  const routed = graph.op(perToken(context, states), graph.op(embedding, graph.view(stack)));
  const coefficients = graph.op(perToken(context, states * states), routed);
  const mixed = graph.op(all, graph.view(copy), graph.view(coefficients));
  const predictions = graph.inPlace(all, graph.op(all, graph.view(mixed)), stack);

  const normed = graph.op(embedding, graph.view(predictions));
  const attended = context.product(
    block(layer, "attn_output"),
    embedding,
    attention(context, layer, normed, { valueNorm: true }),
  );
  const gated = graph.inPlace(embedding, attended, graph.view(predictions));
  const low = graph.op(perToken(context, context.size(block(layer, "laurel_l"), 1, 64)), normed);
  const laurel = graph.inPlace(embedding, graph.op(embedding, low), normed);
  const middle = graph.inPlace(embedding, gated, laurel);
  const fed = sparseFeedForward(context, layer, graph.op(embedding, middle));
  const active = graph.inPlace(embedding, fed, middle);

  const innovation = graph.op(embedding, active, graph.view(predictions));
  const repeated = graph.op(all, innovation);
  const again = graph.op(perToken(context, states), graph.inPlace(embedding, active));
  const factors = graph.op(perToken(context, states), graph.view(graph.op(perToken(context, states), again)));
  const corrected = graph.inPlace(all, graph.inPlace(all, repeated, factors), predictions);

  const first = graph.op(embedding, graph.view(corrected));
  const few = perToken(context, model.perLayerEmbedding);
  const gate = graph.inPlace(few, graph.op(few, first));
  const extra = graph.op(embedding, graph.inPlace(few, gate, graph.view(perLayer.ofAll())));
  const others = graph.op((states - 1) * embedding, graph.view(corrected), extra);
  return graph.op(all, graph.view(corrected), others);
}

function sparseFeedForward(context: GraphContext, layer: Layer, normed: Tensor): Tensor {
  const { graph, embedding } = context;
  const bytes = perToken(context, context.size(block(layer, "ffn_down"), 0, layer.feedForward));
  const up = context.product(block(layer, "ffn_up"), bytes, normed);
  const gate = context.product(block(layer, "ffn_gate"), bytes, normed);
  if (layer.index < sparseLayers) {
    const mean = graph.op(perToken(context, 1), gate);
    const variance = graph.op(perToken(context, 1), graph.op(bytes, gate, mean));
    const cut = graph.inPlace(perToken(context, 1), mean, variance);
    const active = graph.inPlace(bytes, up, graph.inPlace(bytes, gate, cut));
    return context.product(block(layer, "ffn_down"), embedding, active);
  }
  return context.product(
    block(layer, "ffn_down"),
    embedding,
    graph.inPlace(bytes, up, graph.inPlace(bytes, gate)),
  );
}

/** The four states back to one. */
export function merged(context: GraphContext, stack: Tensor): Tensor {
  const { graph, embedding } = context;
  const others = (states - 1) * embedding;
  const projected = graph.op(others, graph.view(stack));
  const own = magnitude(context, graph.op(embedding, graph.view(stack)));
  const scaledOthers = graph.op(others, projected, own);
  const target = magnitude(context, graph.inPlace(others, projected));
  const all = graph.inPlace(others, scaledOthers, target);
  const first = graph.op(embedding, graph.view(stack), graph.view(all));
  return graph.inPlace(embedding, graph.inPlace(embedding, first, graph.view(all)), graph.view(all));
}
