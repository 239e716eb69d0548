import { say } from "../../text";
import { UserError } from "../../userError";
import { packedCount, type PackedStrings, type TokenizerSpec } from "../../model/tokenizerSpec";
import { broken, tooShort } from "./brokenVocabulary";
import { preTokenizerOf, type PreTokenizer } from "../preTokenizers/preTokenizers";

/** What `tokenizer.ggml.model` stands for, with llama.cpp's defaults and the file's own settings applied. */
export interface VocabularySettings {
  readonly kind: "bpe" | "spm" | "wpm" | "ugm" | "rwkv";
  readonly pre?: PreTokenizer;
  /** Text is lowercased (where asked for) and falls apart at white space, which is dropped ("whitespace"). */
  readonly dropsWhitespace: boolean;
  readonly bos: number;
  readonly eos: number;
  readonly unknown: number;
  readonly separator: number;
  readonly addBos: boolean;
  readonly addEos: boolean;
  readonly addSpacePrefix: boolean;
  readonly removeExtraWhitespaces: boolean;
  readonly lowercase: boolean;
  readonly stripAccents: boolean;
}

const none = -1;

type Defaults = Pick<
  VocabularySettings,
  "kind" | "bos" | "eos" | "unknown" | "separator" | "addBos" | "addEos"
> & {
  readonly addSpacePrefix?: boolean;
  readonly dropsWhitespace?: boolean;
};

const byModel: Readonly<Record<string, Defaults>> = {
  llama: {
    kind: "spm",
    bos: 1,
    eos: 2,
    unknown: 0,
    separator: none,
    addBos: true,
    addEos: false,
    addSpacePrefix: true,
  },
  gpt2: { kind: "bpe", bos: 11, eos: 11, unknown: none, separator: none, addBos: false, addEos: false },
  whitespace: {
    kind: "bpe",
    bos: 11,
    eos: 11,
    unknown: none,
    separator: none,
    addBos: false,
    addEos: false,
    dropsWhitespace: true,
  },
  gemma4: { kind: "bpe", bos: none, eos: none, unknown: none, separator: none, addBos: true, addEos: false },
  bert: { kind: "wpm", bos: 101, eos: none, unknown: 100, separator: 102, addBos: true, addEos: false },
  t5: { kind: "ugm", bos: none, eos: 1, unknown: 2, separator: none, addBos: false, addEos: true },
  rwkv: { kind: "rwkv", bos: none, eos: none, unknown: none, separator: none, addBos: false, addEos: false },
};

/** What a GGUF says about its tokenizer without the vocabulary itself. */
export type TokenizerKeys = Omit<
  TokenizerSpec,
  "tokens" | "tokenTypes" | "scores" | "merges" | "precompiledCharsmap"
> & { readonly tokens: number };

/** @throws UserError where the tokenizer is not known or its special tokens cannot be what they are said to be. */
export function settingsOf(spec: TokenizerKeys): VocabularySettings {
  const defaults = Object.hasOwn(byModel, spec.model) ? byModel[spec.model] : undefined;
  if (!defaults) {
    throw new UserError(
      "unsupported",
      say`The tokenizer “${spec.model}” of this model is not supported.`,
      say`Count with a running llama-server that has this model loaded.`,
    );
  }
  const name = spec.model === "gemma4" ? "gemma4" : spec.pre;
  const pre = defaults.kind === "bpe" ? preTokenizerOf(name) : undefined;
  const count = spec.tokens;
  const id = (given: number | undefined, usual: number) => {
    const inside = usual >= count ? none : usual;
    return given === undefined || given >= count ? inside : given;
  };
  const isGemma4 = pre?.pieces.kind === "lines" && pre.pieces.newlineWords && !pre.pieces.wordsAtBlanks;
  const settings: VocabularySettings = {
    kind: defaults.kind,
    ...(pre ? { pre } : {}),
    dropsWhitespace: defaults.dropsWhitespace ?? false,
    bos: id(spec.ids.bos, pre?.noBos ? none : defaults.bos),
    eos: id(spec.ids.eos, defaults.eos),
    unknown: id(spec.ids.unknown, defaults.unknown),
    separator: id(spec.ids.separator, defaults.separator),
    addBos: isGemma4 || (spec.addBos ?? (pre?.addBos || defaults.addBos)),
    addEos: spec.addEos ?? defaults.addEos,
    addSpacePrefix: spec.addSpacePrefix ?? defaults.addSpacePrefix ?? false,
    removeExtraWhitespaces: spec.removeExtraWhitespaces ?? false,
    lowercase: spec.lowercase ?? name !== "whitespace",
    stripAccents: spec.stripAccents ?? spec.lowercase ?? name !== "whitespace",
  };
  checkEnds(settings);
  return settings;
}

/** llama.cpp ends itself where a token it adds is not there. WordPiece always adds its two, RWKV none. */
function checkEnds({ kind, addBos, addEos, bos, eos, separator }: VocabularySettings): void {
  if (kind === "rwkv") return;
  const isWordPiece = kind === "wpm";
  if ((isWordPiece || addBos) && bos < 0) throw broken("tokenizer.ggml.bos_token_id");
  if (isWordPiece && separator < 0) throw broken("tokenizer.ggml.seperator_token_id");
  if (!isWordPiece && addEos && eos < 0) throw broken("tokenizer.ggml.eos_token_id");
}

/** Eight times the largest vocabulary there is; ids and ranks share numbers that hold so many exactly. */
const mostTokens = 1 << 21;

/** @throws UserError where arrays are missing, too short or beyond every use. */
export function checkVocabulary(spec: TokenizerSpec): void {
  const count = packedCount(spec.tokens);
  if (count === 0 || count > mostTokens) throw broken("tokenizer.ggml.tokens");
  if (spec.scores && spec.scores.length < count) {
    throw tooShort("tokenizer.ggml.scores", spec.scores.length, count);
  }
  if (spec.tokenTypes && spec.tokenTypes.length < count) {
    throw tooShort("tokenizer.ggml.token_type", spec.tokenTypes.length, count);
  }
}

/** Token texts as llama.cpp reads them: they end at a NUL, and empty ones get a text of their own. */
export function tokensAsRead(stored: PackedStrings): PackedStrings {
  const tokens = endedAtNul(stored);
  const empty: number[] = [];
  for (let id = 0; id < packedCount(tokens); id++) if (tokens.starts[id] === tokens.ends[id]) empty.push(id);
  if (empty.length === 0) return tokens;
  const texts = empty.map((id) => new TextEncoder().encode(`[EMPTY_${id}]`));
  const extra = texts.reduce((sum, text) => sum + text.length, 0);
  const bytes = new Uint8Array(tokens.bytes.length + extra);
  bytes.set(tokens.bytes);
  const starts = tokens.starts.slice();
  const ends = tokens.ends.slice();
  let at = tokens.bytes.length;
  empty.forEach((id, i) => {
    const text = texts[i] ?? new Uint8Array();
    bytes.set(text, at);
    starts[id] = at;
    at += text.length;
    ends[id] = at;
  });
  return { bytes, starts, ends };
}

function endedAtNul(tokens: PackedStrings): PackedStrings {
  const { bytes, starts } = tokens;
  let ends: Uint32Array | undefined;
  for (let id = 0; id < packedCount(tokens); id++) {
    const end = tokens.ends[id] as number;
    let at = starts[id] as number;
    while (at < end && bytes[at] !== 0) at++;
    if (at === end) continue;
    ends ??= tokens.ends.slice();
    ends[id] = at;
  }
  return ends ? { bytes, starts, ends } : tokens;
}
