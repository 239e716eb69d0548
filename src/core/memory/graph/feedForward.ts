import type { Layer } from "../../model/model";
import { block, scaled, type GraphContext } from "./context";
import type { Tensor } from "./graph";

/** gate and up in parallel, their product, down (llm_graph_context::build_ffn). */
export function denseFeedForward(
  context: GraphContext,
  layer: Layer,
  suffix: string,
  normed: Tensor,
): Tensor {
  const { graph } = context;
  const name = (part: string): string => block(layer, `ffn_${part}${suffix}`);
  const otherwise = suffix === "" ? layer.feedForward : (context.model.experts?.sharedFeedForward ?? 0);
  const width = context.size(name("down"), 0, otherwise);
  const bytes = scaled(context, normed, width);
  const out = graph.bytesOf(normed);
  if (context.has(name("gate")) || context.model.tensors.all.length === 0) {
    const gate = context.product(name("gate"), bytes, normed);
    const up = context.product(name("up"), bytes, normed);
    return context.product(name("down"), out, graph.op(bytes, gate, up));
  }
  const made = context.size(name("up"), 1, width);
  const up = context.product(name("up"), scaled(context, normed, made), normed);
  const active = made === 2 * width ? graph.op(bytes, up) : graph.inPlace(bytes, up);
  return context.product(name("down"), out, active);
}

/**
 * Router, expert products and their weighted sum (llm_graph_context::build_moe_ffn). `later` makes what the experts read
 * where the router read something else.
 */
export function mixtureOfExperts(
  context: GraphContext,
  layer: Layer,
  normed: Tensor,
  later?: () => Tensor,
): Tensor {
  const { graph, model } = context;
  const { experts } = model;
  if (experts === undefined) return normed;
  const used = Math.max(1, experts.used);
  const all = scaled(context, normed, experts.count);
  const few = scaled(context, normed, used);
  const logits = context.product(block(layer, "ffn_gate_inp"), all, normed);
  const probabilities = graph.inPlace(all, logits);
  const biased = context.hasBias(block(layer, "exp_probs_b")) ? graph.op(all, probabilities) : probabilities;
  const sorted = graph.op(all, biased);
  const chosen = graph.view(sorted);
  const weights = graph.op(few, probabilities, chosen);
  const sum = graph.op(scaled(context, normed, 1), graph.view(weights));
  const normal = graph.op(few, graph.view(weights), sum);
  const read = later?.() ?? normed;
  if (context.expertsElsewhere(layer)) {
    const made = graph.op(graph.bytesOf(read), read, chosen, normal);
    context.beforeTail();
    return made;
  }
  const sumOfUsed = expertProducts(context, layer, read, chosen, normal);
  context.beforeTail();
  return sumOfUsed;
}

function expertProducts(
  context: GraphContext,
  layer: Layer,
  read: Tensor,
  chosen: Tensor,
  normal: Tensor,
): Tensor {
  const { graph, model } = context;
  const used = Math.max(1, model.experts?.used ?? 1);
  const width = context.size(block(layer, "ffn_down_exps"), 0, model.experts?.feedForward ?? 0);
  const inner = scaled(context, read, used * width);
  const outer = graph.bytesOf(read) * used;
  const early =
    model.architecture === "llama4" ? graph.inPlace(outer, graph.op(outer, read), normal) : undefined;
  const active = activeExperts(context, layer, early ?? read, chosen, inner);
  const down = context.product(block(layer, "ffn_down_exps"), outer, active, chosen);
  const weighted = early === undefined ? graph.inPlace(outer, down, normal) : down;
  return sumOfExperts(context, weighted, used, graph.bytesOf(read));
}

function activeExperts(
  context: GraphContext,
  layer: Layer,
  from: Tensor,
  chosen: Tensor,
  inner: number,
): Tensor {
  const { graph, model } = context;
  if (context.has(block(layer, "ffn_gate_up_exps"))) {
    const both = context.product(block(layer, "ffn_gate_up_exps"), 2 * inner, from, chosen);
    return graph.op(inner, graph.view(both), graph.view(both));
  }
  const gated = context.has(block(layer, "ffn_gate_exps")) || model.tensors.all.length === 0;
  const gate = gated ? context.product(block(layer, "ffn_gate_exps"), inner, from, chosen) : undefined;
  const up = context.product(block(layer, "ffn_up_exps"), inner, from, chosen);
  return gate === undefined ? graph.inPlace(inner, up) : graph.op(inner, gate, up);
}

/** Of more experts than three, the further ones are added in place like the third and need nothing of their own. */
function sumOfExperts(context: GraphContext, weighted: Tensor, used: number, bytes: number): Tensor {
  const { graph } = context;
  const [first, second, third] = Array.from({ length: Math.min(used, 3) }, () => graph.view(weighted));
  if (first === undefined) return weighted;
  if (second === undefined) return graph.op(bytes, first);
  const sum = graph.op(bytes, first, second);
  return third === undefined ? sum : graph.inPlace(bytes, sum, third);
}

/** Dense or mixture, as the layer has it, with the shared experts beside the chosen ones. */
export function feedForward(context: GraphContext, layer: Layer, normed: Tensor): Tensor {
  const { graph } = context;
  if (!isMixture(context, layer)) return denseFeedForward(context, layer, "", normed);
  const routed = mixtureOfExperts(context, layer, normed);
  if (!hasShared(context, layer)) return routed;
  const shared = denseFeedForward(context, layer, "_shexp", normed);
  const bytes = graph.bytesOf(routed);
  if (!context.has(block(layer, "ffn_gate_inp_shexp"))) return graph.inPlace(bytes, routed, shared);
  const gate = graph.op(scaled(context, normed, 1), normed);
  return graph.inPlace(bytes, routed, graph.inPlace(bytes, shared, gate));
}

export function isMixture(context: GraphContext, layer: Layer): boolean {
  const { experts, tensors } = context.model;
  if (experts === undefined) return false;
  if (tensors.all.length > 0) return context.has(block(layer, "ffn_down_exps"));
  return layer.index >= experts.leadingDense;
}

function hasShared(context: GraphContext, layer: Layer): boolean {
  const { experts, tensors } = context.model;
  if (tensors.all.length > 0) return context.has(block(layer, "ffn_down_shexp"));
  return (experts?.sharedFeedForward ?? 0) > 0;
}
