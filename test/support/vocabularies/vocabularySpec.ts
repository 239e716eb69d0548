import { bool, i32Array, f32Array, str, strArray, u32, type GgufMetadata } from "../forge/ggufValue";

/** llama.cpp's token types (`tokenizer.ggml.token_type`). */
export const tokenType = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

/** A vocabulary as a GGUF holds it. */
export interface VocabularySpec {
  readonly name: string;
  /** Changes when the source or the way it is read changes; part of the key of cached models. */
  readonly version: string;
  /** `tokenizer.ggml.model`: "gpt2" (BPE), "llama" (SPM), … */
  readonly model: string;
  /** `tokenizer.ggml.pre` */
  readonly pre?: string;
  readonly tokens: readonly string[];
  readonly tokenTypes: readonly number[];
  /** BPE: "left right", best first. */
  readonly merges?: readonly string[];
  /** SPM. */
  readonly scores?: readonly number[];
  readonly bos?: number;
  readonly eos?: number;
  readonly eot?: number;
  readonly unknown?: number;
  readonly padding?: number;
  readonly addBos?: boolean;
  readonly addSpacePrefix?: boolean;
  readonly chatTemplate?: string;
}

/** The `tokenizer.*` keys of a GGUF with this vocabulary. */
export function vocabularyMetadata(spec: VocabularySpec): GgufMetadata {
  const metadata: GgufMetadata = new Map([
    ["tokenizer.ggml.model", str(spec.model)],
    ["tokenizer.ggml.tokens", strArray(spec.tokens)],
    ["tokenizer.ggml.token_type", i32Array(spec.tokenTypes)],
  ]);
  if (spec.pre !== undefined) metadata.set("tokenizer.ggml.pre", str(spec.pre));
  if (spec.merges !== undefined) metadata.set("tokenizer.ggml.merges", strArray(spec.merges));
  if (spec.scores !== undefined) metadata.set("tokenizer.ggml.scores", f32Array(spec.scores));
  if (spec.chatTemplate !== undefined) metadata.set("tokenizer.chat_template", str(spec.chatTemplate));
  if (spec.addBos !== undefined) metadata.set("tokenizer.ggml.add_bos_token", bool(spec.addBos));
  if (spec.addSpacePrefix !== undefined)
    metadata.set("tokenizer.ggml.add_space_prefix", bool(spec.addSpacePrefix));
  const ids = {
    bos_token_id: spec.bos,
    eos_token_id: spec.eos,
    eot_token_id: spec.eot,
    unknown_token_id: spec.unknown,
    padding_token_id: spec.padding,
  };
  for (const [key, id] of Object.entries(ids)) {
    if (id !== undefined) metadata.set(`tokenizer.ggml.${key}`, u32(id));
  }
  return metadata;
}
