/** Which layers attend through a sliding window only. Layer `il` of a period `p`: windowed iff il % p < p - 1. */
export interface WindowRule {
  /** Window in tokens where the key `attention.sliding_window` is absent. */
  readonly defaultWindow?: number;
  /** The window whatever the key says (a key of 0 still switches it off). */
  readonly fixedWindow?: number;
  /** Used where `attention.sliding_window_pattern` is absent; "required": no pattern, no window. */
  readonly period: number | "required" | "allAttention";
  /** The full-attention layer comes first in its period. */
  readonly denseFirst?: boolean;
  /** Only models with so many layers have a window. */
  readonly onlyWithLayers?: number;
}

/** Which layers keep a recurrent state. */
export type RecurrentRule =
  | { readonly kind: "all" }
  | { readonly kind: "both" }
  | { readonly kind: "noKvHeads" }
  | { readonly kind: "noKvHeadsNoFeedForward" }
  | { readonly kind: "interval"; readonly fullAttentionEvery: number };

export type StateShape = "ssm" | "rwkv" | "shortconv" | "kda" | "linearAttention";

export interface Architecture {
  readonly window?: WindowRule;
  readonly recurrent?: RecurrentRule;
  readonly state?: StateShape;
  /** No KV cache at all: encoders and diffusion models. */
  readonly noCache?: boolean;
  /** Layers from this one on reuse an earlier layer's KV. */
  readonly sharedKvFrom?: number;
  /** The first so many layers own KV, the rest is counted by `attention.shared_kv_layers`. */
  readonly sharedKvCount?: boolean;
  /** A second, K only cache for the sparse-attention indexer. */
  readonly indexer?: "all" | "types" | "afterDense" | "pooled";
  /** Compressed caches beside the windowed one (DeepSeek V4). */
  readonly compressed?: boolean;
  /** Keeps states to roll drafts back (`llm_arch_supports_rs_rollback`). */
  readonly rollback?: boolean;
  /** Flash attention is always off. */
  readonly noFlashAttention?: boolean;
  /** A tied output matrix is always a second copy: it is created before the embedding it could share. */
  readonly duplicatesTiedOutput?: boolean;
  /** `num_loops` runs the layers so many times, each with its own KV. */
  readonly loops?: boolean;
}

const plain: Architecture = {};
const noCache: Architecture = { noCache: true };
const windowed = (window: WindowRule): Architecture => ({ window });

const everyFourth: RecurrentRule = { kind: "interval", fullAttentionEvery: 4 };
const deltaNet: Architecture = { recurrent: everyFourth, state: "ssm" };
const nemotronH: Architecture = {
  recurrent: { kind: "noKvHeadsNoFeedForward" },
  state: "ssm",
  rollback: true,
};
const lfm2: Architecture = {
  recurrent: { kind: "noKvHeads" },
  state: "shortconv",
  window: { period: "allAttention" },
  rollback: true,
};
const kda: Architecture = { recurrent: { kind: "noKvHeads" }, state: "kda" };
const mamba: Architecture = { recurrent: { kind: "all" }, state: "ssm" };
const rwkv: Architecture = { recurrent: { kind: "all" }, state: "rwkv" };

const names = (list: string, architecture: Architecture): (readonly [string, Architecture])[] =>
  list.split(" ").map((name) => [name, architecture] as const);

/**
 * Memory rules of the architectures llama.cpp knows (src/models/*.cpp and llama-hparams.cpp of August 2026, checked against
 * build 11669), by `general.architecture`. One that is not here gets the plain rules and is said to be unknown.
 */
export const architectures: ReadonlyMap<string, Architecture> = new Map([
  ...names(
    "llama deci falcon gpt2 gptj gptneox mpt baichuan starcoder refact bloom stablelm qwen qwen2 qwen2moe qwen2vl qwen3 " +
      "qwen3moe qwen3vl qwen3vlmoe phi2 phi3 phimoe plamo codeshell orion internlm2 minicpm minicpm3 gemma starcoder2 xverse " +
      "command-r dbrx olmo olmoe openelm arctic deepseek deepseek2 deepseek2-ocr chatglm glm4 glm4moe bitnet t5 jais jais2 " +
      "nemotron exaone granite granitemoe chameleon plm bailingmoe bailingmoe2 dots1 arcee ernie4_5 ernie4_5-moe " +
      "hunyuan-moe hunyuan-dense hunyuan_vl hy_v3 smollm3 seed_oss grovemoe apertus minimax-m2 cogvlm pangu-embedded " +
      "mistral3 mistral4 paddleocr llama-embed maincoder talkie hrm_text k2-horizon pockettts qwen3tts eagle3",
    plain,
  ),
  ...names(
    "bert modern-bert nomic-bert nomic-bert-moe neo-bert jina-bert-v2 jina-bert-v3 eurobert gemma-embedding dream llada " +
      "llada-moe rnd1 wavtokenizer-dec t5encoder",
    noCache,
  ),
  ["grok", { noFlashAttention: true }],
  ["nanbeige", { loops: true }],
  ["gemma2", windowed({ defaultWindow: 4096, period: 2 })],
  ["gemma3", windowed({ period: 6 })],
  ["gemma3n", { window: { period: 5 }, sharedKvFrom: 20, duplicatesTiedOutput: true }],
  ["gemma4", { window: { period: "required" }, sharedKvCount: true, duplicatesTiedOutput: true }],
  ["gpt-oss", windowed({ period: 2 })],
  ["cohere2", windowed({ period: 4 })],
  ["cohere2moe", windowed({ period: 4, denseFirst: true })],
  ["llama4", windowed({ fixedWindow: 8192, period: 4 })],
  ...names("afmoe olmo2 mellum", windowed({ period: 4 })),
  ["laguna", windowed({ period: 4, denseFirst: true })],
  ["exaone4", windowed({ fixedWindow: 4096, period: 4, onlyWithLayers: 64 })],
  ["exaone-moe", windowed({ defaultWindow: 128, period: 4 })],
  ["smallthinker", windowed({ fixedWindow: 4096, period: 4, denseFirst: true })],
  ["plamo3", windowed({ period: 8 })],
  ["muse-glimmer", windowed({ period: 4 })],
  ...names("step35 mimo2 granite_swa maion-coder maple spark2_5 dflash", windowed({ period: "required" })),
  ...names("mamba mamba2", mamba),
  ...names("rwkv6 rwkv6qwen2 rwkv7 arwkv7", rwkv),
  ...names("jamba plamo2 granitehybrid", { recurrent: { kind: "noKvHeads" }, state: "ssm" }),
  ["falcon-h1", { recurrent: { kind: "both" }, state: "ssm" }],
  ...names("lfm2 lfm2moe", lfm2),
  ...names("kimi-linear kimi-k3 bailingmoe3", kda),
  ...names("nemotron_h nemotron_h_moe", nemotronH),
  ["qwen3next", deltaNet],
  ...names("qwen35 qwen35moe", { ...deltaNet, rollback: true }),
  ["minimax-01", { recurrent: { kind: "interval", fullAttentionEvery: 8 }, state: "linearAttention" }],
  ["deepseek32", { indexer: "all" }],
  ...names("glm-dsa hy_v4", { indexer: "types" }),
  ["dots3note", { indexer: "types", window: { period: "required" } }],
  ["minimax-m3", { indexer: "afterDense" }],
  ["deepseek4", { window: { period: "required" }, compressed: true, rollback: true }],
  ["qwen4exp", { ...deltaNet, indexer: "pooled" }],
  ["glm5-next", { ...kda, indexer: "pooled" }],
]);
