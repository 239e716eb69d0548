import { bool, f32Array, i32Array, str, strArray, u32, u8Array, type GgufMetadata } from "../forge/ggufValue";
import { byteLetters, spelled } from "./sensitiveVocabularies";
import { tokenType } from "./vocabularySpec";

type Token = readonly [text: string, type?: number, score?: number];

function metadata(model: string, tokens: readonly Token[], more: GgufMetadata = new Map()): GgufMetadata {
  return new Map([
    ["general.architecture", str("llama")],
    ["tokenizer.ggml.model", str(model)],
    ["tokenizer.ggml.tokens", strArray(tokens.map(([text]) => text))],
    ["tokenizer.ggml.token_type", i32Array(tokens.map(([, type]) => type ?? tokenType.normal))],
    ["tokenizer.ggml.scores", f32Array(tokens.map(([, , score]) => score ?? 0))],
    ...more,
  ]);
}

/** A score that looks drawn by chance and is not. */
const scoreOf = (text: string, i: number): number =>
  -((Math.imul(text.length * 31 + i, 40503) & 0xfff) / 300);

const scored = (texts: readonly string[]): Token[] =>
  texts.map((text, i) => [text, tokenType.normal, scoreOf(text, i)]);

/** Unigram with a character map that maps, deletes and widens. */
export function unigram(rules: {
  readonly addSpacePrefix: boolean;
  readonly removeExtraWhitespaces: boolean;
  readonly characterMap: boolean;
}): GgufMetadata {
  const words =
    "a b c e h l o w r d t A 1 ... . é x ▁ ▁the ▁he llo ▁hello lo ▁wor ld fi ▁fi ab abc bc ▁a ▁ab x▁";
  const tokens: Token[] = [
    ["<pad>", tokenType.control],
    ["</s>", tokenType.control],
    ["<unk>", tokenType.unknown],
    ...scored([...words.split(" "), "キロ", "キ", "ロ", "日", "本", "日本", "語", "▁日本", "▁▁", "t▁h"]),
    ["<extra_0>", tokenType.userDefined, -5],
    ["<sp ace>", tokenType.userDefined, -5],
    ["▁<x>", tokenType.userDefined, -5],
    ["unusedtok", tokenType.unused, -1],
  ];
  const map = [
    ["ﬁ", "fi"],
    ["Ａ", "A"],
    ["①", "1"],
    ["\u00a0", " "],
    ["\t", " "],
    ["\n", " "],
    ["\r", ""],
    ["…", "..."],
    ["\u3000", " "],
    ["㌔", "キロ"],
    ["\u200b", ""],
  ] as const;
  return metadata(
    "t5",
    tokens,
    new Map([
      ["tokenizer.ggml.add_space_prefix", bool(rules.addSpacePrefix)],
      ["tokenizer.ggml.remove_extra_whitespaces", bool(rules.removeExtraWhitespaces)],
      ...(rules.characterMap
        ? [["tokenizer.ggml.precompiled_charsmap", u8Array(characterMap(new Map(map)))] as const]
        : []),
    ]),
  );
}

/** RWKV: escaped texts, the longest match wins. */
export function rwkv(): GgufMetadata {
  const words = [
    "hello",
    " hello",
    "he",
    "the",
    " the",
    "日本",
    "日本語",
    "  ",
    "\n\n",
    "\\n",
    "é",
    "ab",
    "abc",
    "abcd",
    "😀",
    "\r\n",
  ];
  const texts = [
    ...Array.from({ length: 256 }, (_, byte) => escaped(Buffer.from([byte]))),
    ...words.map((word) => escaped(Buffer.from(word))),
  ];
  return metadata("rwkv", [["<s>"], ...texts.map((text): Token => [text])]);
}

function escaped(bytes: Buffer): string {
  const named: Readonly<Record<number, string>> = { 0x5c: "\\\\", 0x0a: "\\n", 0x09: "\\t", 0x0d: "\\r" };
  return Array.from(bytes, (byte) => {
    const printable = byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : undefined;
    return named[byte] ?? printable ?? `\\x${byte.toString(16).padStart(2, "0")}`;
  }).join("");
}

/**
 * Byte-level with runs of blanks as tokens of their own, as GPT-NeoX has them, and tokens that overlap: what is left of a
 * long run belongs to the word behind it, what is left in front to the word before.
 */
export function overlappingTokens(): GgufMetadata {
  const tokens: Token[] = [
    ...byteLetters.map((letter): Token => [letter]),
    ...["Ġx", "xa", "Ċx"].map((text): Token => [text]),
    ...["  ", "   ", "    ", "ab", "bcd", "\n\n"].map((text): Token => [text, tokenType.userDefined]),
    ["<|end|>", tokenType.control],
  ];
  return metadata(
    "gpt2",
    tokens,
    new Map([
      ["tokenizer.ggml.pre", str("gpt-2")],
      ["tokenizer.ggml.merges", strArray(["Ġ x", "x a", "Ċ x"])],
    ]),
  );
}

/** Kimi K2 is the one that may come without merges. */
export function withoutMerges(): GgufMetadata {
  const tokens = [...byteLetters, spelled("hello"), spelled("日本")].map((text): Token => [text]);
  return metadata("gpt2", tokens, new Map([["tokenizer.ggml.pre", str("kimi-k2")]]));
}

/** WordPiece; `[UNK]` and the others have the ids llama.cpp takes for granted. */
export function wordPiece(rules: {
  readonly lowercase?: boolean;
  readonly stripAccents?: boolean;
  readonly addEos?: boolean;
}): GgufMetadata {
  const words =
    "hello Hello world the The a b c d e é É s ß İ ı 日 本 語 한 12 1 2 3 . , ! ' $ + ~ café cafe ▁";
  const starts = words.split(" ").map((word) => `▁${word}`);
  const tokens: Token[] = [
    ["[PAD]", tokenType.control],
    ...Array.from({ length: 99 }, (_, i): Token => [`[unused${i}]`, tokenType.unused]),
    ["[UNK]", tokenType.unknown],
    ["[CLS]", tokenType.control],
    ["[SEP]", tokenType.control],
    ["[MASK]", tokenType.control],
    ...[...starts, ...words.split(" "), "lo", "ing", "ld", "r"].map((text): Token => [text]),
  ];
  const unique = tokens.filter(([text], i) => tokens.findIndex(([other]) => other === text) === i);
  return metadata(
    "bert",
    unique,
    new Map([
      ...(rules.lowercase === undefined
        ? []
        : [["tokenizer.ggml.normalizer.lowercase", bool(rules.lowercase)] as const]),
      ...(rules.stripAccents === undefined
        ? []
        : [["tokenizer.ggml.normalizer.strip_accents", bool(rules.stripAccents)] as const]),
      ...(rules.addEos === undefined ? [] : [["tokenizer.ggml.add_eos_token", bool(rules.addEos)] as const]),
    ]),
  );
}

/** SentencePiece; with a name that has "phi-3" in it special tokens eat the blanks behind them. */
export function sentencePiece(rules: {
  readonly name?: string;
  readonly addSpacePrefix?: boolean;
  /** Id of the token that ends a turn. */
  readonly eot?: number;
}): GgufMetadata {
  const bytes = Array.from({ length: 256 }, (_, i): Token => [
    `<0x${i.toString(16).toUpperCase().padStart(2, "0")}>`,
    tokenType.byte,
  ]);
  const words =
    "▁ a b c e h l o w r d t . ▁▁ ▁▁▁▁ ▁t he ▁the ▁h ll ello ▁hello lo ▁w or ld ▁world ab bc abc ▁a aa aaaa é 日 本 日本";
  const tokens: Token[] = [
    ["<unk>", tokenType.unknown],
    ["<s>", tokenType.control],
    ["</s>", tokenType.control],
    ["<|endoftext|>", tokenType.control],
    ["<|user|>", tokenType.control],
    ["<|end|>", tokenType.control],
    ["<|plamo:eos|>", tokenType.control],
    ["<tool>", tokenType.userDefined],
    ["<tool", tokenType.userDefined],
    ["ool>x", tokenType.userDefined],
    ["\n\n", tokenType.userDefined],
    ["\n\n\n", tokenType.userDefined],
    ...bytes,
    ...scored(words.split(" ")),
  ];
  return metadata(
    "llama",
    tokens,
    new Map([
      ...(rules.name === undefined ? [] : [["general.name", str(rules.name)] as const]),
      ...(rules.addSpacePrefix === undefined
        ? []
        : [["tokenizer.ggml.add_space_prefix", bool(rules.addSpacePrefix)] as const]),
      ...(rules.eot === undefined ? [] : [["tokenizer.ggml.eot_token_id", u32(rules.eot)] as const]),
    ]),
  );
}

interface Branch {
  readonly children: Map<number, Branch>;
  text?: string;
}

/**
 * SentencePiece's precompiled character map: a double array whose units hold an offset to xor, a label and a leaf bit,
 * then the replacements, each ended by a zero.
 */
function characterMap(map: ReadonlyMap<string, string>): number[] {
  const root: Branch = { children: new Map() };
  for (const [from, to] of map) {
    let branch = root;
    for (const byte of Buffer.from(from)) {
      const next = branch.children.get(byte) ?? { children: new Map() };
      branch.children.set(byte, next);
      branch = next;
    }
    branch.text = to;
  }
  const units: number[] = [];
  const taken = new Set([0]);
  const replacements: number[] = [];
  const place = (at: number, branch: Branch): void => {
    const labels = [...(branch.text === undefined ? [] : [0]), ...branch.children.keys()];
    let base = 1;
    while (labels.some((label) => taken.has(base ^ label))) base++;
    for (const label of labels) taken.add(base ^ label);
    units[at] = (units[at] ?? 0) | ((at ^ base) << 10) | (branch.text === undefined ? 0 : 1 << 8);
    if (branch.text !== undefined) {
      units[base] = replacements.length | (1 << 31);
      replacements.push(...Buffer.from(branch.text), 0);
    }
    for (const [label, child] of branch.children) {
      units[base ^ label] = label;
      place(base ^ label, child);
    }
  };
  place(0, root);
  const size = Math.max(...taken) + 257;
  const blob = Buffer.alloc(4 + size * 4);
  blob.writeUInt32LE(size * 4, 0);
  for (let i = 0; i < size; i++) blob.writeInt32LE((units[i] ?? 0) | 0, 4 + i * 4);
  return [...blob, ...replacements];
}
