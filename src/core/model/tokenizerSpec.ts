/** A list of byte strings inside one buffer: string `i` is `bytes[starts[i]] … bytes[ends[i] - 1]`. */
export interface PackedStrings {
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** The ids a GGUF names with `tokenizer.ggml.*_token_id`. */
export interface SpecialTokenIds {
  readonly bos?: number;
  readonly eos?: number;
  readonly eot?: number;
  readonly eom?: number;
  readonly unknown?: number;
  /** `seperator_token_id`, as llama.cpp spells it. */
  readonly separator?: number;
  readonly padding?: number;
  readonly mask?: number;
  readonly fimPrefix?: number;
  readonly fimSuffix?: number;
  readonly fimMiddle?: number;
  readonly fimPad?: number;
  readonly fimRepository?: number;
  readonly fimSeparator?: number;
}

/** What a GGUF says about its tokenizer, as stored: nothing is defaulted, checked or overridden yet. */
export interface TokenizerSpec {
  /** `tokenizer.ggml.model`. */
  readonly model: string;
  /** `tokenizer.ggml.pre`. */
  readonly pre?: string;
  /** `general.architecture` and `general.name`: llama.cpp changes token attributes by them. */
  readonly architecture: string;
  readonly name: string;
  readonly tokens: PackedStrings;
  /** 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte. */
  readonly tokenTypes?: Int32Array;
  readonly scores?: Float32Array;
  readonly merges?: PackedStrings;
  readonly precompiledCharsmap?: Uint8Array;
  readonly ids: SpecialTokenIds;
  readonly addBos?: boolean;
  readonly addEos?: boolean;
  readonly addSeparator?: boolean;
  readonly addSpacePrefix?: boolean;
  readonly removeExtraWhitespaces?: boolean;
  readonly lowercase?: boolean;
  readonly stripAccents?: boolean;
}

export const packedCount = (strings: PackedStrings): number => strings.starts.length;

export function packedAt(strings: PackedStrings, index: number): Uint8Array {
  return strings.bytes.subarray(strings.starts[index], strings.ends[index]);
}
