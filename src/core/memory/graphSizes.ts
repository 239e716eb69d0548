import type { Model } from "../model/model";
import type { ContextPlan } from "./contextPlan";
import { swaCells } from "./kvCache";
import { largestState } from "./recurrentState";

/**
 * Sizes of the tensors that live in the compute buffer while one ubatch is worked on; bytes. The laws were found by
 * comparing 4,369 no-alloc loads of build 11669 with the graphs of llama.cpp's src/models/*.cpp.
 */
export interface GraphSizes {
  /** f32 column of one value per ubatch token. */
  readonly column: number;
  readonly embedding: number;
  /** All attention masks together: n_kv × ubatch, f16 with flash attention, else f32. */
  readonly masks: number;
  readonly feedForward: number;
  readonly attention: number;
  readonly recurrent: number;
  readonly logits: number;
}

export function graphSizes(model: Model, plan: ContextPlan): GraphSizes {
  const column = 4 * plan.ubatch;
  const e = model.embeddingLength;
  return {
    column,
    embedding: e * column,
    masks: masks(model, plan),
    feedForward: feedForwardValues(model) * column,
    attention: attention(model, plan, column),
    recurrent: recurrent(model, plan, column),
    logits: 5 * e * column + 4 * model.vocabularySize * plan.outputs,
  };
}

function masks(model: Model, plan: ContextPlan): number {
  const attends = model.layers.filter((layer) => !layer.mtp);
  const full = attends.some((layer) => layer.kind === "attention") ? plan.slot.nCtxSeq : 0;
  const windowed = attends.some((layer) => layer.kind === "swa") ? swaCells(model, plan) : 0;
  const both = model.slidingWindow > 0 ? plan.slot.nCtxSeq + windowed : full;
  return both * plan.ubatch * (plan.flashAttention ? 2 : 4);
}

/** Values per token that the widest feed-forward part keeps beside the residual stream. */
function feedForwardValues(model: Model): number {
  const e = model.embeddingLength;
  const main = model.layers.filter((layer) => !layer.mtp);
  const dense = Math.max(0, ...main.map((layer) => layer.feedForward));
  const gated = /^nemotron_h/.test(model.architecture) ? 1 : 3;
  const { experts } = model;
  const extra = /^(cohere2|llama4)$/.test(model.architecture) ? e : 0;
  if (experts === undefined) return 5 * e + gated * dense + perLayer(model) + extra;
  const used = experts.used;
  const moe =
    gated * used * experts.feedForward + (gated === 1 || e > 2 * experts.feedForward ? used * e : 0);
  const leading = experts.leadingDense > 0 ? gated * dense : 0;
  return 5 * e + Math.max(moe, leading) + perLayer(model) + extra;
}

function perLayer(model: Model): number {
  const width = model.perLayerEmbedding;
  if (width === 0) return 0;
  const layers = model.layers.length;
  return model.architecture === "gemma3n"
    ? 5 * model.embeddingLength + width * (layers + 3)
    : width * (layers + 2);
}

function attention(model: Model, plan: ContextPlan, column: number): number {
  const e = model.embeddingLength;
  const layers = model.layers.filter(
    (layer) => !layer.mtp && (layer.kind === "attention" || layer.kind === "swa"),
  );
  const heads = Math.max(0, ...layers.map((layer) => layer.heads));
  if (layers.length === 0) return 0;
  if (plan.flashAttention) {
    if (model.mla === undefined) return 0;
    const { kvLoraRank, ropeDimensions, keyLength } = model.mla;
    return (5 * e + heads * (2 * kvLoraRank + 2 * ropeDimensions + keyLength)) * column;
  }
  const cells = layers.some((layer) => layer.kind === "attention")
    ? plan.slot.nCtxSeq
    : swaCells(model, plan);
  const q = Math.max(0, ...layers.map((layer) => layer.heads * layer.keyLength));
  const kv = Math.max(0, ...layers.map((layer) => layer.kvHeads * layer.keyLength));
  const scores = cells * heads * column;
  const mla = model.mla === undefined ? 0 : cells * model.mla.kvLoraRank * 2;
  return scores + (5 * e + q + 2 * kv) * column + mla;
}

function recurrent(model: Model, plan: ContextPlan, column: number): number {
  const { shift, state } = largestState(model);
  if (shift + state === 0) return 0;
  const np = plan.slot.slots;
  const e = model.embeddingLength;
  const { innerSize: inner, stateSize, groupCount } = model.stateKeys;
  const conv = inner + 2 * groupCount * stateSize;
  switch (model.rules?.state) {
    case "rwkv":
      return (/7$/.test(model.architecture) ? 20 : 15) * e * column + 2 * np * state * 4;
    case "shortconv":
      return 0;
    case "kda":
    case "linearAttention":
      return 5 * e * column + np * (2 * state + shift) * 4;
    default:
      if (model.rules?.recurrent?.kind === "interval") {
        return (5 * e + 2 * conv + inner) * column + np * (2 * state + shift) * 4;
      }
      if (model.architecture === "mamba") return (5 * e + 5 * inner) * column + np * (state + shift) * 4;
      return (
        (5 * e + 2 * inner + 2 * groupCount * stateSize + model.stateKeys.timeStepRank + 2 * conv + inner) *
          column +
        ((2 * np - 1) * state + np * shift) * 4
      );
  }
}
