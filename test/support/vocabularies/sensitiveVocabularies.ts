import { tokenType, type VocabularySpec } from "./vocabularySpec";

/** GPT-2's letters of the bytes: printable ones themselves, the others from U+0100 on. */
export const byteLetters: readonly string[] = (() => {
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    return String.fromCharCode(printable ? byte : next++);
  });
})();

/** A text in those letters. */
export const spelled = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => byteLetters[byte] ?? "").join("");

/** Tokens that no merge reaches: only a pre-tokenizer that ignores merges takes them whole. */
export const unmerged: readonly string[] = ["hello", " the", "123", "...", "日本"];

/**
 * Byte-level BPE in which any two bytes merge, and nothing more: wherever a pre-tokenizer cuts differently, other pairs
 * are found. The order of the merges is scrambled so that a piece does not simply fall into pairs from its start.
 */
export function bytePairs(pre: string): VocabularySpec {
  const pairs = Array.from({ length: 1 << 16 }, (_, i) => Math.imul(i, 40503) & 0xffff);
  const spell = (pair: number, gap: string) =>
    `${byteLetters[pair >> 8] ?? ""}${gap}${byteLetters[pair & 0xff] ?? ""}`;
  const tokens = [
    ...byteLetters,
    ...pairs.map((pair) => spell(pair, "")),
    ...unmerged.map(spelled),
    "<|end|>",
  ];
  return {
    name: `byte-pairs-${pre}`,
    version: "2",
    model: "gpt2",
    pre,
    tokens,
    tokenTypes: tokens.map((_, id) => (id === tokens.length - 1 ? tokenType.control : tokenType.normal)),
    merges: pairs.map((pair) => spell(pair, " ")),
    bos: tokens.length - 1,
    eos: tokens.length - 1,
  };
}

/**
 * BPE over characters with U+2581 for blanks and `<0xXX>` for bytes: any two of the given characters merge, and some
 * pairs of pairs.
 */
export function characterPairs(model: string, pre: string, characters: string): VocabularySpec {
  const singles = Array.from(new Set(characters.replaceAll(" ", "▁")));
  const pairs = singles.flatMap((left) => singles.map((right) => [left, right] as const));
  const order = pairs.map((pair, i) => ({ pair, key: Math.imul(i + 1, 40503) & 0xffff }));
  order.sort((a, b) => a.key - b.key);
  const merges = order.map(({ pair: [left, right] }) => `${left} ${right}`);
  const long = order.slice(0, 400).map(({ pair }, i) => {
    const other = order[(i * 7 + 3) % order.length]?.pair ?? pair;
    return { merge: `${pair.join("")} ${other.join("")}`, text: pair.join("") + other.join("") };
  });
  const bytes = Array.from({ length: 256 }, (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, "0")}>`);
  const specials = ["<pad>", "<eos>", "<bos>", "<unk>"];
  const tokens = Array.from(
    new Set([
      ...specials,
      ...bytes,
      ...singles,
      ...order.map(({ pair }) => pair.join("")),
      ...long.map(({ text }) => text),
      "\n\n",
      "\n\n\n",
    ]),
  );
  const typeOf = (text: string) =>
    specials.includes(text) ? tokenType.control : bytes.includes(text) ? tokenType.byte : tokenType.normal;
  return {
    name: `character-pairs-${pre}`,
    version: "1",
    model,
    ...(model === "gemma4" ? {} : { pre }),
    tokens,
    tokenTypes: tokens.map(typeOf),
    merges: [...merges, ...long.map(({ merge }) => merge)],
    bos: 2,
    eos: 1,
    unknown: 3,
  };
}
