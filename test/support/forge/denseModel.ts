import { vocabularyMetadata, type VocabularySpec } from "../vocabularies/vocabularySpec";
import { f32, str, u32, type GgufMetadata } from "./ggufValue";
import type { Dimensions } from "./sizes";
import type { TensorSpec } from "./tensor";
import type { GgufFile } from "./writeGguf";

export type DenseArchitecture = "llama" | "qwen2" | "qwen3";

/** A dense model with grouped-query attention and tied embeddings. */
export function denseModel(
  architecture: DenseArchitecture,
  wanted: Dimensions,
  contextLength: number,
  vocabulary: VocabularySpec,
): GgufFile {
  const size = architecture === "qwen2" ? squareAttention(wanted) : wanted;
  return {
    metadata: denseMetadata(architecture, size, contextLength, vocabulary),
    tensors: [
      weight("token_embd.weight", size.embedding, vocabulary.tokens.length),
      norm("output_norm.weight", size.embedding),
      ...Array.from({ length: size.layers }, (_, layer) => [
        ...attention(architecture, size, layer),
        ...feedForward(size, layer),
      ]).flat(),
    ],
  };
}

/** llama.cpp's qwen2 wants heads × head size = embedding. */
function squareAttention(size: Dimensions): Dimensions {
  const heads = size.embedding / size.headSize;
  return { ...size, heads, kvHeads: Math.min(size.kvHeads, heads / 2) };
}

export function denseMetadata(
  architecture: string,
  size: Dimensions,
  contextLength: number,
  vocabulary: VocabularySpec,
): GgufMetadata {
  return new Map([
    ["general.architecture", str(architecture)],
    ["general.name", str(`Forged ${architecture}`)],
    ["general.file_type", u32(7)], // mostly q8_0
    [`${architecture}.context_length`, u32(contextLength)],
    [`${architecture}.embedding_length`, u32(size.embedding)],
    [`${architecture}.block_count`, u32(size.layers)],
    [`${architecture}.feed_forward_length`, u32(size.feedForward)],
    [`${architecture}.attention.head_count`, u32(size.heads)],
    [`${architecture}.attention.head_count_kv`, u32(size.kvHeads)],
    [`${architecture}.attention.key_length`, u32(size.headSize)],
    [`${architecture}.attention.value_length`, u32(size.headSize)],
    [`${architecture}.attention.layer_norm_rms_epsilon`, f32(1e-6)],
    [`${architecture}.rope.freq_base`, f32(1e6)],
    [`${architecture}.rope.dimension_count`, u32(size.headSize)],
    ...vocabularyMetadata(vocabulary),
  ]);
}

function attention(architecture: DenseArchitecture, size: Dimensions, layer: number): TensorSpec[] {
  const q = size.heads * size.headSize;
  const kv = size.kvHeads * size.headSize;
  const tensors = [
    norm(`blk.${layer}.attn_norm.weight`, size.embedding),
    weight(`blk.${layer}.attn_q.weight`, size.embedding, q),
    weight(`blk.${layer}.attn_k.weight`, size.embedding, kv),
    weight(`blk.${layer}.attn_v.weight`, size.embedding, kv),
    weight(`blk.${layer}.attn_output.weight`, q, size.embedding),
  ];
  if (architecture === "qwen2") {
    tensors.push(vector(`blk.${layer}.attn_q.bias`, q));
    tensors.push(vector(`blk.${layer}.attn_k.bias`, kv), vector(`blk.${layer}.attn_v.bias`, kv));
  }
  if (architecture === "qwen3") {
    tensors.push(norm(`blk.${layer}.attn_q_norm.weight`, size.headSize));
    tensors.push(norm(`blk.${layer}.attn_k_norm.weight`, size.headSize));
  }
  return tensors;
}

export function feedForward(size: Dimensions, layer: number): TensorSpec[] {
  return [
    norm(`blk.${layer}.ffn_norm.weight`, size.embedding),
    weight(`blk.${layer}.ffn_gate.weight`, size.embedding, size.feedForward),
    weight(`blk.${layer}.ffn_up.weight`, size.embedding, size.feedForward),
    weight(`blk.${layer}.ffn_down.weight`, size.feedForward, size.embedding),
  ];
}

export const weight = (name: string, columns: number, rows: number): TensorSpec => ({
  name,
  shape: [columns, rows],
  type: "q8_0",
  fill: { random: 0.1 },
});

export const norm = (name: string, width: number): TensorSpec => ({
  name,
  shape: [width],
  type: "f32",
  fill: { constant: 1 },
});

/** A row of small random numbers. */
export const vector = (name: string, width: number): TensorSpec => ({
  name,
  shape: [width],
  type: "f32",
  fill: { random: 0.1 },
});
