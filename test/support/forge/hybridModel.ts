import type { VocabularySpec } from "../vocabularies/vocabularySpec";
import { denseMetadata, norm, vector, weight } from "./denseModel";
import { boolArray, i32Array, u32 } from "./ggufValue";
import type { Dimensions } from "./sizes";
import type { TensorSpec } from "./tensor";
import type { GgufFile } from "./writeGguf";

const experts = 4;
const expertsUsed = 2;
const convKernel = 4;
const stateSize = 64;
const groups = 2;
/** Value heads of the gated delta net (`ssm.time_step_rank`); `ssm.inner_size` is their total width. */
const valueHeads = 2;
const innerSize = valueHeads * stateSize;

/** Every second layer attends to the past, the others carry a state (llama.cpp's default is every fourth). */
const recurrent = (layer: number): boolean => layer % 2 === 0;

/** A Qwen3.5 MoE: gated delta net and gated attention in turn, and experts in every layer. */
export function hybridModel(size: Dimensions, contextLength: number, vocabulary: VocabularySpec): GgufFile {
  const arch = "qwen35moe";
  const layers = Array.from({ length: size.layers }, (_, layer) => layer);
  const metadata = denseMetadata(arch, size, contextLength, vocabulary)
    .set(
      `${arch}.rope.dimension_sections`,
      i32Array([size.headSize / 8, size.headSize / 8, size.headSize / 8, 0]),
    )
    .set(`${arch}.attention.recurrent_layers`, boolArray(layers.map(recurrent)))
    .set(`${arch}.full_attention_interval`, u32(2))
    .set(`${arch}.expert_count`, u32(experts))
    .set(`${arch}.expert_used_count`, u32(expertsUsed))
    .set(`${arch}.expert_feed_forward_length`, u32(size.feedForward))
    .set(`${arch}.expert_shared_feed_forward_length`, u32(size.feedForward))
    .set(`${arch}.ssm.conv_kernel`, u32(convKernel))
    .set(`${arch}.ssm.state_size`, u32(stateSize))
    .set(`${arch}.ssm.group_count`, u32(groups))
    .set(`${arch}.ssm.time_step_rank`, u32(valueHeads))
    .set(`${arch}.ssm.inner_size`, u32(innerSize));
  return {
    metadata,
    tensors: [
      weight("token_embd.weight", size.embedding, vocabulary.tokens.length),
      norm("output_norm.weight", size.embedding),
      ...layers.flatMap((layer) => [
        norm(`blk.${layer}.attn_norm.weight`, size.embedding),
        ...(recurrent(layer) ? deltaNet(size, layer) : gatedAttention(size, layer)),
        norm(`blk.${layer}.post_attention_norm.weight`, size.embedding),
        ...mixture(size, layer),
      ]),
    ],
  };
}

function deltaNet(size: Dimensions, layer: number): TensorSpec[] {
  const qkv = innerSize + 2 * groups * stateSize;
  return [
    weight(`blk.${layer}.attn_qkv.weight`, size.embedding, qkv),
    weight(`blk.${layer}.attn_gate.weight`, size.embedding, innerSize),
    { ...weight(`blk.${layer}.ssm_conv1d.weight`, convKernel, qkv), type: "f32" },
    vector(`blk.${layer}.ssm_dt.bias`, valueHeads),
    { ...vector(`blk.${layer}.ssm_a`, valueHeads), fill: { constant: -1 } },
    weight(`blk.${layer}.ssm_alpha.weight`, size.embedding, valueHeads),
    weight(`blk.${layer}.ssm_beta.weight`, size.embedding, valueHeads),
    norm(`blk.${layer}.ssm_norm.weight`, stateSize),
    weight(`blk.${layer}.ssm_out.weight`, innerSize, size.embedding),
  ];
}

function gatedAttention(size: Dimensions, layer: number): TensorSpec[] {
  const q = size.heads * size.headSize;
  const kv = size.kvHeads * size.headSize;
  return [
    // queries and their gates
    weight(`blk.${layer}.attn_q.weight`, size.embedding, 2 * q),
    weight(`blk.${layer}.attn_k.weight`, size.embedding, kv),
    weight(`blk.${layer}.attn_v.weight`, size.embedding, kv),
    weight(`blk.${layer}.attn_output.weight`, q, size.embedding),
    norm(`blk.${layer}.attn_q_norm.weight`, size.headSize),
    norm(`blk.${layer}.attn_k_norm.weight`, size.headSize),
  ];
}

function mixture(size: Dimensions, layer: number): TensorSpec[] {
  const each = (name: string, columns: number, rows: number): TensorSpec => ({
    ...weight(`blk.${layer}.${name}.weight`, columns, rows),
    shape: [columns, rows, experts],
  });
  return [
    { ...weight(`blk.${layer}.ffn_gate_inp.weight`, size.embedding, experts), type: "f32" },
    each("ffn_gate_exps", size.embedding, size.feedForward),
    each("ffn_up_exps", size.embedding, size.feedForward),
    each("ffn_down_exps", size.feedForward, size.embedding),
    vector(`blk.${layer}.ffn_gate_inp_shexp.weight`, size.embedding),
    weight(`blk.${layer}.ffn_gate_shexp.weight`, size.embedding, size.feedForward),
    weight(`blk.${layer}.ffn_up_shexp.weight`, size.embedding, size.feedForward),
    weight(`blk.${layer}.ffn_down_shexp.weight`, size.feedForward, size.embedding),
  ];
}
