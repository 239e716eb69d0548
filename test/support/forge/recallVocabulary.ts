import { adjectives, nouns } from "../../../src/core/ladder/prompt/canaryWords";
import { entryLine } from "../../../src/core/ladder/prompt/canaries";
import { fillerSentences } from "../../../src/core/ladder/prompt/fillerText";
import { introduction, recallQuestion } from "../../../src/core/ladder/prompt/question";
import { tokenType, type VocabularySpec } from "../vocabularies/vocabularySpec";

/** Tokens the recall model's weights know by name. */
export const special = { bos: 0, user: 1, end: 2, assistant: 3 } as const;

/** How llama-3's pre-tokenizer cuts text; pieces that are whole tokens stay whole. */
const pieces = /[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/gu;

/**
 * A small vocabulary with llama-3's pre-tokenizer: every word of keys, filler and questions is one token, and so is every
 * number of up to three digits; everything else falls apart into bytes.
 */
export function recallVocabulary(): VocabularySpec {
  const words = new Set<string>();
  const add = (text: string): void => {
    for (const [piece] of text.matchAll(pieces)) if (piece.length > 1) words.add(piece);
  };
  for (const word of adjectives) words.add(word);
  for (const word of nouns) words.add(`-${word}`);
  for (let n = 10; n < 100; n++) words.add(String(n));
  for (let n = 0; n < 1000; n++) words.add(String(n).padStart(3, "0"));
  for (const piece of ['{"', ' "', '":', '",', '"}', "\n\n"]) words.add(piece);
  add(introduction("x"));
  add(recallQuestion(["a", "b"]));
  add(entryLine("a", "1"));
  let count = 0;
  for (const sentence of fillerSentences("1", "vocabulary")) {
    add(sentence);
    if (++count === 2000) break;
  }
  const controls = ["<|bos|>", "<|user|>", "<|end|>", "<|assistant|>"];
  const bytes = Array.from({ length: 256 }, (_, byte) => letterOf(byte));
  const spelled = [...words].map((word) => [...Buffer.from(word)].map(letterOf).join(""));
  const tokens = [...controls, ...bytes, ...spelled.filter((word) => !bytes.includes(word))];
  return {
    name: "recall",
    version: "1",
    model: "gpt2",
    pre: "llama-bpe",
    tokens,
    tokenTypes: tokens.map((_, id) => (id < controls.length ? tokenType.control : tokenType.normal)),
    merges: ["q z"],
    bos: special.bos,
    eos: special.end,
    addBos: true,
    chatTemplate:
      "{% for message in messages %}<|user|>{{ message['content'] }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}",
  };
}

/** The token of a text that is one token. */
export function tokenOf(vocabulary: VocabularySpec, text: string): number {
  const id = vocabulary.tokens.indexOf([...Buffer.from(text)].map(letterOf).join(""));
  if (id < 0) throw new Error(`no token ${JSON.stringify(text)}`);
  return id;
}

/** GPT-2's spelling of bytes: printable ones stand for themselves. */
function letterOf(byte: number): string {
  return String.fromCharCode(letters[byte] ?? byte);
}

const letters: readonly number[] = (() => {
  const printable = (byte: number): boolean =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => (printable(byte) ? byte : next++));
})();
