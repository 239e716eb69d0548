import { packedCount, type PackedStrings, type TokenizerSpec } from "../../model/tokenizerSpec";
import { bpeShape } from "./bpeTokenizer";
import { buildBpeVocabulary, latin1Of, type BpeVocabulary } from "./bpeVocabulary";
import { buildSpmVocabulary, type SpmVocabulary } from "./spm";
import { effectiveAttributes, isCutOut } from "./specialTokens";
import { checkVocabulary, settingsOf, tokensAsRead, type TokenizerKeys } from "./vocabularyDefaults";

/** A vocabulary made ready: everything a tokenizer needs, in plain data that can be stored and shared. */
export interface CompiledVocabulary {
  readonly keys: TokenizerKeys;
  readonly specials: SpecialTokens;
  readonly tables: VocabularyTables;
}

/** Tokens that are cut out of the text. */
export interface SpecialTokens {
  readonly ids: Int32Array;
  readonly texts: PackedStrings;
  readonly attributes: Uint8Array;
}

export type VocabularyTables =
  | { readonly kind: "bpe"; readonly bpe: BpeVocabulary }
  | { readonly kind: "spm"; readonly spm: SpmVocabulary }
  /** Kinds that are made ready when they are opened. */
  | { readonly kind: "tokens"; readonly tokens: TokenTables };

export interface TokenTables {
  readonly texts: PackedStrings;
  readonly tokenTypes?: Int32Array;
  readonly attributes: Uint8Array;
  readonly scores?: Float32Array;
  readonly charsmap?: Uint8Array;
}

/** @throws UserError for a tokenizer that is not known or a vocabulary that is broken. */
export function compileVocabulary(given: TokenizerSpec): CompiledVocabulary {
  const spec = { ...given, tokens: tokensAsRead(given.tokens) };
  const keys: TokenizerKeys = { ...keysOf(spec), tokens: packedCount(spec.tokens) };
  checkVocabulary(spec);
  const attributes = effectiveAttributes(spec, textFinder(spec.tokens));
  return { keys, specials: specialsOf(spec.tokens, attributes), tables: tablesOf(spec, keys, attributes) };
}

function keysOf(spec: TokenizerSpec): Omit<TokenizerKeys, "tokens"> {
  const {
    tokens: _tokens,
    merges: _merges,
    scores: _scores,
    tokenTypes: _types,
    precompiledCharsmap: _map,
    ...keys
  } = spec;
  return keys;
}

function tablesOf(spec: TokenizerSpec, keys: TokenizerKeys, attributes: Uint8Array): VocabularyTables {
  const { kind, pre } = settingsOf(keys);
  if (kind === "bpe" && pre) return { kind: "bpe", bpe: buildBpeVocabulary(spec, bpeShape(pre)) };
  if (kind === "spm") return { kind: "spm", spm: buildSpmVocabulary(spec) };
  return {
    kind: "tokens",
    tokens: {
      texts: spec.tokens,
      attributes,
      ...(spec.tokenTypes ? { tokenTypes: spec.tokenTypes } : {}),
      ...(spec.scores ? { scores: spec.scores } : {}),
      ...(spec.precompiledCharsmap ? { charsmap: spec.precompiledCharsmap } : {}),
    },
  };
}

function specialsOf(tokens: PackedStrings, attributes: Uint8Array): SpecialTokens {
  const ids = Int32Array.from(
    Array.from(attributes.keys()).filter((id) => isCutOut(attributes[id] as number)),
  );
  const starts = new Uint32Array(ids.length);
  const ends = new Uint32Array(ids.length);
  let size = 0;
  ids.forEach((id, i) => {
    starts[i] = size;
    size += (tokens.ends[id] as number) - (tokens.starts[id] as number);
    ends[i] = size;
  });
  const bytes = new Uint8Array(size);
  ids.forEach((id, i) => {
    bytes.set(tokens.bytes.subarray(tokens.starts[id], tokens.ends[id]), starts[i]);
  });
  return {
    ids,
    texts: { bytes, starts, ends },
    attributes: Uint8Array.from(ids, (id) => attributes[id] as number),
  };
}

/** Begins with <, [, _< or ▁<. */
function looksSpecial(bytes: Uint8Array, at: number): boolean {
  const first = bytes[at];
  if (first === 0x3c || first === 0x5b) return true;
  return first === 0x5f ? bytes[at + 1] === 0x3c : first === 0xe2 && bytes[at + 3] === 0x3c;
}

/** Finds token ids by text; only texts that look special are ever asked for. */
function textFinder(tokens: PackedStrings): (text: string) => number | undefined {
  const ids = new Map<string, number>();
  for (let id = 0; id < packedCount(tokens); id++) {
    const start = tokens.starts[id] as number;
    const end = tokens.ends[id] as number;
    if (end - start < 40 && looksSpecial(tokens.bytes, start))
      ids.set(latin1Of(tokens.bytes, start, end), id);
  }
  const encoder = new TextEncoder();
  return (text) => {
    const bytes = encoder.encode(text);
    return ids.get(latin1Of(bytes, 0, bytes.length));
  };
}
