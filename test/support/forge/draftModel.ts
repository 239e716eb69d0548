import type { VocabularySpec } from "../vocabularies/vocabularySpec";
import { denseMetadata, feedForward, norm, weight } from "./denseModel";
import { i32Array, u32 } from "./ggufValue";
import type { Dimensions } from "./sizes";
import type { TensorSpec } from "./tensor";
import type { GgufFile } from "./writeGguf";

export interface DraftSizes extends Dimensions {
  /** Width of the model it drafts for. */
  readonly target: number;
  /** Tokens it knows where it has an output of its own; absent: it uses the target's. */
  readonly ownTokens?: number;
}

/** A draft that reads features of the target's layers: EAGLE-3 (one layer) or DFlash (a block of tokens at once). */
export function draftModel(
  kind: "eagle3" | "dflash",
  size: DraftSizes,
  vocabulary: VocabularySpec,
): GgufFile {
  const { embedding, heads, kvHeads, headSize, target, ownTokens, layers } = size;
  const metadata = denseMetadata(kind, size, 32_768, vocabulary)
    .set(`${kind}.target_layers`, i32Array([0, 1, 2]))
    .set(`${kind}.target_hidden_size`, u32(target));
  if (kind === "dflash")
    metadata.set("dflash.block_size", u32(4)).set("tokenizer.ggml.mask_token_id", u32(5));
  const from = kind === "eagle3" ? 2 * embedding : embedding;
  const block = (at: string, layer: number): TensorSpec[] => [
    norm(`${at}attn_norm.weight`, embedding),
    ...(kind === "eagle3"
      ? [norm(`${at}attn_norm_2.weight`, embedding)]
      : [norm(`${at}attn_q_norm.weight`, headSize), norm(`${at}attn_k_norm.weight`, headSize)]),
    weight(`${at}attn_q.weight`, from, heads * headSize),
    weight(`${at}attn_k.weight`, from, kvHeads * headSize),
    weight(`${at}attn_v.weight`, from, kvHeads * headSize),
    weight(`${at}attn_output.weight`, heads * headSize, embedding),
    ...feedForward(size, layer),
  ];
  return {
    metadata,
    tensors: [
      weight("fc.weight", 3 * target, embedding),
      norm("output_norm.weight", embedding),
      ...(kind === "dflash" ? [norm("enc.output_norm.weight", embedding)] : []),
      ...(ownTokens === undefined
        ? []
        : [
            { name: "d2t", shape: [ownTokens], type: "i64", fill: { constant: 0 } } as const,
            weight("output.weight", embedding, ownTokens),
          ]),
      ...Array.from({ length: layers }, (_, layer) => block(`blk.${layer}.`, layer)).flat(),
    ],
  };
}
