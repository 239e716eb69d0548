import type { VocabularySpec } from "../vocabularies/vocabularySpec";
import { denseMetadata, feedForward, norm, weight } from "./denseModel";
import { i32Array, str, u32 } from "./ggufValue";
import type { Dimensions } from "./sizes";
import type { GgufFile } from "./writeGguf";

export const slidingWindow = 512;
/** Every second layer has a window (llama.cpp's own default for gemma3 is five of six). */
const windowed = (layer: number): boolean => layer % 2 === 0;

/** A Gemma 3: two KV caches, one of them only as long as the window and a ubatch (iSWA). */
export function slidingWindowModel(
  size: Dimensions,
  contextLength: number,
  vocabulary: VocabularySpec,
): GgufFile {
  const q = size.heads * size.headSize;
  const kv = size.kvHeads * size.headSize;
  const layers = Array.from({ length: size.layers }, (_, layer) => layer);
  return {
    metadata: denseMetadata("gemma3", size, contextLength, vocabulary)
      .set("gemma3.attention.sliding_window", u32(slidingWindow))
      .set(
        "gemma3.attention.sliding_window_pattern",
        i32Array(layers.map((layer) => Number(windowed(layer)))),
      )
      .set("gemma3.rope.scaling.type", str("none")),
    tensors: [
      weight("token_embd.weight", size.embedding, vocabulary.tokens.length),
      norm("output_norm.weight", size.embedding),
      ...layers.flatMap((layer) => [
        norm(`blk.${layer}.attn_norm.weight`, size.embedding),
        weight(`blk.${layer}.attn_q.weight`, size.embedding, q),
        weight(`blk.${layer}.attn_k.weight`, size.embedding, kv),
        weight(`blk.${layer}.attn_v.weight`, size.embedding, kv),
        weight(`blk.${layer}.attn_output.weight`, q, size.embedding),
        norm(`blk.${layer}.attn_q_norm.weight`, size.headSize),
        norm(`blk.${layer}.attn_k_norm.weight`, size.headSize),
        norm(`blk.${layer}.post_attention_norm.weight`, size.embedding),
        ...feedForward(size, layer),
        norm(`blk.${layer}.post_ffw_norm.weight`, size.embedding),
      ]),
    ],
  };
}
