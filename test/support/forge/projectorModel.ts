import { bool, f32, f32Array, str, u32, type GgufMetadata } from "./ggufValue";
import type { TensorSpec } from "./tensor";
import type { GgufFile } from "./writeGguf";

export type ProjectorKind =
  | "gemma3"
  | "gemma4v"
  | "idefics3"
  | "internvl"
  | "lfm2"
  | "mlp"
  | "pixtral"
  | "qwen2vl_merger"
  | "qwen2.5vl_merger"
  | "qwen3vl_merger";

export interface ProjectorSizes {
  readonly layers: number;
  readonly embedding: number;
  readonly heads: number;
  readonly feedForward: number;
  readonly image: number;
  readonly patch: number;
  /** Width of the language model. */
  readonly text: number;
  /** Neighbours that become one token, where the kind has no number of its own. */
  readonly merge?: number;
  /** Layers whose features are handed over beside the last one's (Qwen3-VL). */
  readonly deepStack?: readonly number[];
  /** What goes into and out of each product has limits (Gemma 4's small encoder). */
  readonly clamps?: boolean;
}

/** A multimodal projector with a vision encoder, in the names and shapes llama.cpp's own converter gives it. */
export function projectorModel(kind: ProjectorKind, sizes: ProjectorSizes): GgufFile {
  const metadata: GgufMetadata = new Map([
    ["general.architecture", str("clip")],
    ["general.type", str("mmproj")],
    ["clip.has_vision_encoder", bool(true)],
    ["clip.projector_type", str(kind)],
    ["clip.vision.image_size", u32(sizes.image)],
    ["clip.vision.patch_size", u32(sizes.patch)],
    ["clip.vision.embedding_length", u32(sizes.embedding)],
    ["clip.vision.feed_forward_length", u32(sizes.feedForward)],
    ["clip.vision.block_count", u32(sizes.layers)],
    ["clip.vision.projection_dim", u32(sizes.text)],
    ["clip.vision.attention.head_count", u32(sizes.heads)],
    ["clip.vision.attention.layer_norm_epsilon", f32(1e-6)],
    ["clip.vision.image_mean", f32Array([0.5, 0.5, 0.5])],
    ["clip.vision.image_std", f32Array([0.5, 0.5, 0.5])],
    ["clip.use_gelu", bool(true)],
    ...mergeKeys(kind, sizes),
  ]);
  const { embedding, patch, layers } = sizes;
  return {
    metadata,
    tensors: [
      matrix("v.patch_embd.weight", patch, patch, 3, embedding),
      ...Array.from({ length: layers }, (_, layer) => block(kind, sizes, `v.blk.${layer}.`)).flat(),
      ...around(kind, sizes),
    ],
  };
}

function mergeKeys(kind: ProjectorKind, { merge }: ProjectorSizes): GgufMetadata {
  const scale = "clip.vision.projector.scale_factor";
  const spatial = "clip.vision.spatial_merge_size";
  switch (kind) {
    case "idefics3":
      return new Map([[scale, u32(merge ?? 4)]]);
    case "internvl":
    case "lfm2":
      return new Map([[scale, u32(merge ?? 2)]]);
    case "gemma4v":
      return new Map([[scale, u32(merge ?? 3)]]);
    case "qwen3vl_merger":
      return new Map([[spatial, u32(2)]]);
    case "qwen2.5vl_merger":
      return new Map([["clip.vision.n_wa_pattern", u32(8)]]);
    case "pixtral":
      return new Map(merge === undefined ? [] : [[spatial, u32(merge)]]);
    default:
      return new Map([]);
  }
}

function block(kind: ProjectorKind, sizes: ProjectorSizes, at: string): TensorSpec[] {
  const { embedding, feedForward, heads } = sizes;
  const plain = kind === "gemma4v" || kind === "pixtral";
  const rms = plain || kind === "qwen2.5vl_merger";
  const linear = (name: string, from: number, to: number): TensorSpec[] => [
    matrix(`${at}${name}.weight`, from, to),
    ...(plain ? [] : [vector(`${at}${name}.bias`, to)]),
  ];
  const norm = (name: string): TensorSpec[] => [
    vector(`${at}${name}.weight`, embedding),
    ...(rms ? [] : [vector(`${at}${name}.bias`, embedding)]),
  ];
  const products = ["attn_q", "attn_k", "attn_v", "attn_out", "ffn_up", "ffn_gate", "ffn_down"];
  const limits = ["input_max", "input_min", "output_max", "output_min"];
  const own: Partial<Record<ProjectorKind, readonly TensorSpec[]>> = {
    gemma4v: [
      vector(`${at}attn_q_norm.weight`, embedding / heads),
      vector(`${at}attn_k_norm.weight`, embedding / heads),
      vector(`${at}attn_post_norm.weight`, embedding),
      vector(`${at}ffn_post_norm.weight`, embedding),
      ...(sizes.clamps === true
        ? products.flatMap((product) => limits.map((limit) => vector(`${at}${product}.${limit}`, 1)))
        : []),
    ],
    internvl: [vector(`${at}ls1.weight`, embedding), vector(`${at}ls2.weight`, embedding)],
  };
  return [
    ...(kind === "qwen3vl_merger"
      ? linear("attn_qkv", embedding, 3 * embedding)
      : ["attn_q", "attn_k", "attn_v"].flatMap((name) => linear(name, embedding, embedding))),
    ...linear("attn_out", embedding, embedding),
    ...norm("ln1"),
    ...norm("ln2"),
    ...linear("ffn_up", embedding, feedForward),
    ...(rms ? linear("ffn_gate", embedding, feedForward) : []),
    ...linear("ffn_down", feedForward, embedding),
    ...(own[kind] ?? []),
  ];
}

/** Tensors before and behind the layers. */
function around(kind: ProjectorKind, sizes: ProjectorSizes): TensorSpec[] {
  const { embedding, image, patch, text } = sizes;
  const places = Math.floor(image / patch) ** 2;
  const learned = (count: number): TensorSpec => vector("v.position_embd.weight", embedding, count);
  const bias = vector("v.patch_embd.bias", embedding);
  const classToken = vector("v.class_embd", embedding);
  const norm = (name: string, width = embedding): TensorSpec[] => [
    vector(`${name}.weight`, width),
    vector(`${name}.bias`, width),
  ];
  const linear = (name: string, from: number, to: number): TensorSpec[] => [
    matrix(`${name}.weight`, from, to),
    vector(`${name}.bias`, to),
  ];
  const both = (first: string, second: string, from: number, inner: number): TensorSpec[] => [
    ...linear(first, from, inner),
    ...linear(second, inner, text),
  ];
  const four = 4 * embedding;
  const second = matrix("v.patch_embd.weight.1", patch, patch, 3, embedding);
  switch (kind) {
    case "gemma3":
      return [
        ...[bias, learned(places), ...norm("v.post_ln"), vector("mm.soft_emb_norm.weight", embedding)],
        matrix("mm.input_projection.weight", text, embedding),
      ];
    case "gemma4v":
      return [
        vector("v.position_embd.weight", embedding, places, 2),
        matrix("mm.input_projection.weight", embedding, text),
      ];
    case "idefics3":
      return [
        ...[bias, learned(places), ...norm("v.post_ln")],
        matrix("mm.model.fc.weight", embedding * (sizes.merge ?? 4) ** 2, text),
      ];
    case "internvl":
      return [
        ...[bias, classToken, learned(places + 1), ...norm("mm.model.mlp.0", four)],
        ...both("mm.model.mlp.1", "mm.model.mlp.3", four, text),
      ];
    case "lfm2":
      return [
        ...[bias, learned(places), ...norm("v.post_ln"), ...norm("mm.input_norm", four)],
        ...both("mm.1", "mm.2", four, 2 * text),
      ];
    case "mlp":
      return [classToken, learned(places + 1), ...norm("v.pre_ln"), ...both("mm.0", "mm.2", embedding, text)];
    case "pixtral":
      return [
        vector("v.pre_ln.weight", embedding),
        ...both("mm.1", "mm.2", embedding, text),
        vector("v.token_embd.img_break", text),
        ...(sizes.merge === undefined
          ? []
          : [
              vector("mm.input_norm.weight", embedding),
              matrix("mm.patch_merger.weight", embedding * sizes.merge ** 2, embedding),
            ]),
      ];
    case "qwen2vl_merger":
    case "qwen2.5vl_merger":
      return [second, ...norm("v.post_ln"), ...both("mm.0", "mm.2", four, four)];
    case "qwen3vl_merger":
      return [
        ...[second, bias, learned(places), ...norm("v.post_ln"), ...both("mm.0", "mm.2", four, four)],
        ...(sizes.deepStack ?? []).flatMap((layer) => [
          ...norm(`v.deepstack.${layer}.norm`, four),
          ...both(`v.deepstack.${layer}.fc1`, `v.deepstack.${layer}.fc2`, four, four),
        ]),
      ];
  }
}

const matrix = (name: string, ...shape: number[]): TensorSpec => ({
  name,
  shape,
  type: "f16",
  fill: { random: 0.05 },
});

const vector = (name: string, ...shape: number[]): TensorSpec => ({
  name,
  shape,
  type: "f32",
  fill: { constant: 1 },
});
