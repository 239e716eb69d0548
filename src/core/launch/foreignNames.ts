import { renamedOption } from "./renamedOptions";

/**
 * What other programs call an option of llama-server: llama.cpp's own library and its Python binding, Ollama, vLLM,
 * KoboldCpp, LM Studio, text-generation-webui. Names without dashes in front, with dashes for underscores.
 */
const foreign: Readonly<Record<string, string>> = {
  ctx: "ctx-size",
  context: "ctx-size",
  "context-length": "ctx-size",
  "context-size": "ctx-size",
  "context-window": "ctx-size",
  contextsize: "ctx-size",
  contextlength: "ctx-size",
  "max-context": "ctx-size",
  "max-context-length": "ctx-size",
  "max-model-len": "ctx-size",
  "max-seq-len": "ctx-size",
  "n-ctx": "ctx-size",
  "num-ctx": "ctx-size",
  file: "model",
  filename: "model",
  "file-name": "model",
  gguf: "model",
  "model-file": "model",
  "model-name": "alias",
  "model-path": "model",
  path: "model",
  "served-model-name": "alias",
  gpulayers: "n-gpu-layers",
  "gpu-layer": "n-gpu-layers",
  "num-gpu": "n-gpu-layers",
  "num-gpu-layers": "n-gpu-layers",
  "n-threads": "threads",
  "num-thread": "threads",
  "num-threads": "threads",
  blasbatchsize: "batch-size",
  "n-batch": "batch-size",
  "num-batch": "batch-size",
  "n-ubatch": "ubatch-size",
  "max-num-seqs": "parallel",
  "n-parallel": "parallel",
  "n-slots": "parallel",
  "num-parallel": "parallel",
  slots: "parallel",
  "max-new-tokens": "n-predict",
  "max-tokens": "n-predict",
  "num-predict": "n-predict",
  "num-keep": "keep",
  "flash-attention": "flash-attn",
  flashattention: "flash-attn",
  "kv-cache-dtype": "cache-type-k",
  "kv-cache-type": "cache-type-k",
  quantkv: "cache-type-k",
  "type-k": "cache-type-k",
  "type-v": "cache-type-v",
  "chat-format": "chat-template",
  "repetition-penalty": "repeat-penalty",
  "draft-model": "spec-draft-model",
  "speculative-model": "spec-draft-model",
  "mmproj-path": "mmproj",
  "clip-model-path": "mmproj",
  "lora-path": "lora",
  "rope-frequency-base": "rope-freq-base",
};

/** The option that a name of another program means; without dashes, as keys of presets are written. */
export function foreignOption(name: string): string | undefined {
  const plain = name.replace(/^-+/, "").replaceAll("_", "-").toLowerCase();
  const meant = Object.hasOwn(foreign, plain) ? foreign[plain] : undefined;
  return renamedOption(`--${plain}`) === undefined ? meant : undefined;
}
