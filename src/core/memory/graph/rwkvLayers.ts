import type { Layer } from "../../model/model";
import { block, scaled, perToken, type GraphContext } from "./context";
import type { Tensor } from "./graph";
import { ssmRows, shiftRows } from "./recurrentLayers";

/** What a layer reads of the sequence's past; taken out while the layer above is still at work. */
export interface RwkvRows {
  readonly shift: Tensor;
  readonly state: Tensor;
}

export const rwkvRows = (context: GraphContext, layer: Layer): RwkvRows => ({
  shift: shiftRows(context, layer),
  state: ssmRows(context, layer),
});

/** One layer of RWKV 6 or 7 (src/models/rwkv6-base.cpp, rwkv7-base.cpp): time mix, then channel mix. */
export function rwkvLayer(
  context: GraphContext,
  layer: Layer,
  past: RwkvRows,
  hidden: Tensor,
  rows: ((tensor: Tensor) => Tensor) | undefined,
  firstValue: { tensor: Tensor | undefined },
): Tensor {
  const { graph, embedding } = context;
  const normed = graph.op(embedding, graph.view(hidden));
  const before = graph.op(embedding, graph.view(past.shift), graph.view(normed));
  const mixed = /7$/.test(context.model.architecture)
    ? timeMix7(context, layer, normed, before, past.state, firstValue)
    : timeMix6(context, layer, normed, before, past.state);
  const middle = graph.op(embedding, graph.view(graph.op(embedding, mixed)), graph.view(hidden));
  const channel = graph.op(embedding, middle);
  const shift = graph.op(graph.bytesOf(past.shift), graph.view(normed), graph.view(channel));
  graph.store(graph.view(shift));
  context.beforeTail();
  return channelMix(context, layer, past, middle, channel, rows);
}

function channelMix(
  context: GraphContext,
  layer: Layer,
  past: RwkvRows,
  middle: Tensor,
  channel: Tensor,
  rows: ((tensor: Tensor) => Tensor) | undefined,
): Tensor {
  const { graph } = context;
  const few = (tensor: Tensor): Tensor => rows?.(tensor) ?? graph.view(tensor);
  const before = few(graph.op(context.embedding, graph.view(past.shift), graph.view(channel)));
  const now = few(channel);
  const bytes = graph.bytesOf(now);
  const difference = rows === undefined ? graph.op(bytes, before, now) : graph.inPlace(bytes, before, now);
  const width = scaled(context, now, context.size(block(layer, "channel_mix_key"), 1, layer.feedForward));
  const gated = context.has(block(layer, "channel_mix_receptance"));
  if (!gated) {
    const key = graph.inPlace(bytes, graph.inPlace(bytes, difference), now);
    const value = graph.op(bytes, graph.inPlace(width, graph.op(width, key)));
    return graph.inPlace(bytes, value, few(middle));
  }
  const receptanceIn = graph.inPlace(bytes, graph.op(bytes, difference), now);
  const receptance = graph.op(bytes, receptanceIn);
  const key = graph.inPlace(bytes, graph.inPlace(bytes, difference), now);
  const value = graph.op(bytes, graph.inPlace(width, graph.op(width, key)));
  return graph.inPlace(bytes, graph.inPlace(bytes, receptance, value), few(middle));
}

function timeMix6(
  context: GraphContext,
  layer: Layer,
  normed: Tensor,
  before: Tensor,
  state: Tensor,
): Tensor {
  const { graph, embedding } = context;
  const extra = perToken(context, context.size(block(layer, "time_mix_w1"), 1, 160));
  const difference = graph.inPlace(embedding, before, normed);
  const mixed = graph.inPlace(embedding, graph.op(embedding, graph.view(difference)), graph.view(normed));
  const low = graph.op(extra, graph.view(graph.op(extra, mixed)));
  const lerp = graph.op(5 * embedding, low);
  const five = graph.inPlace(
    5 * embedding,
    graph.inPlace(5 * embedding, lerp, graph.view(difference)),
    graph.view(normed),
  );
  const parts = Array.from({ length: 5 }, () => graph.view(five));
  const [keyIn = five, valueIn = five, receptanceIn = five, decayIn = five, gateIn = five] = parts;
  const key = graph.op(embedding, keyIn);
  const value = graph.op(embedding, valueIn);
  const receptance = graph.op(embedding, receptanceIn);
  const decayWidth = perToken(context, context.size(block(layer, "time_mix_decay_w1"), 1, 64));
  const decay = graph.op(embedding, graph.op(decayWidth, decayIn));
  const done = graph.op(embedding + graph.bytesOf(state), key, value, receptance, decay, state);
  graph.store(graph.view(done));
  const normal = graph.op(embedding, graph.view(graph.op(embedding, graph.view(done))));
  const gate = graph.op(embedding, gateIn);
  return graph.inPlace(embedding, normal, gate);
}

function timeMix7(
  context: GraphContext,
  layer: Layer,
  normed: Tensor,
  before: Tensor,
  state: Tensor,
  firstValue: { tensor: Tensor | undefined },
): Tensor {
  const { graph, embedding } = context;
  const lora = (name: string, from: Tensor): Tensor =>
    graph.op(embedding, graph.op(perToken(context, context.size(block(layer, name), 1, 64)), from));
  const difference = graph.inPlace(embedding, before, normed);
  const six = graph.inPlace(6 * embedding, graph.op(6 * embedding, difference), normed);
  const parts = Array.from({ length: 6 }, () => graph.view(six));
  const [receptanceIn = six, decayIn = six, keyIn = six, valueIn = six, rateIn = six, gateIn = six] = parts;
  const receptance = graph.op(embedding, receptanceIn);
  const decay = lora("time_mix_w1", decayIn);
  const key = graph.op(embedding, keyIn);
  const rate = lora("time_mix_a1", rateIn);
  const scaledKey = graph.op(embedding, key);
  const change = graph.inPlace(embedding, graph.op(embedding, rate, scaledKey), scaledKey);
  const newKey = graph.inPlace(embedding, change, key);
  const value = valueOf(context, lora, valueIn, firstValue);
  const normal = graph.op(embedding, graph.view(graph.op(embedding, key)));
  const negative = graph.op(embedding, normal);
  const rated = graph.inPlace(embedding, normal, graph.view(rate));
  const done = graph.op(
    embedding + graph.bytesOf(state),
    receptance,
    decay,
    newKey,
    value,
    negative,
    rated,
    state,
  );
  graph.store(graph.view(done));
  const out = graph.op(embedding, graph.view(graph.op(embedding, graph.view(done))));
  const bonus = graph.op(embedding, graph.view(newKey), graph.view(receptance));
  const heads = graph.op(embedding / 64, bonus);
  const added = graph.op(embedding, graph.view(value), heads);
  const sum = graph.inPlace(embedding, out, graph.view(added));
  return graph.inPlace(embedding, sum, lora("time_mix_g1", gateIn));
}

/** The first layer's value goes into every other one's. */
function valueOf(
  context: GraphContext,
  lora: (name: string, from: Tensor) => Tensor,
  from: Tensor,
  firstValue: { tensor: Tensor | undefined },
): Tensor {
  const { graph, embedding } = context;
  const value = graph.op(embedding, from);
  if (firstValue.tensor === undefined) {
    firstValue.tensor = value;
    return value;
  }
  const difference = graph.op(embedding, firstValue.tensor, value);
  const moved = graph.inPlace(embedding, difference, lora("time_mix_v1", from));
  return graph.inPlace(embedding, value, moved);
}
