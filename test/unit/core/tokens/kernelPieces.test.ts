import { describe, expect, it } from "vitest";
import type { TokenizerSpec } from "../../../../src/core/model/tokenizerSpec";
import { packVocabulary, unpackVocabulary } from "../../../../src/core/tokens/kernel/bundle";
import { compileVocabulary } from "../../../../src/core/tokens/kernel/compiledVocabulary";
import { tokenizerOf } from "../../../../src/core/tokens/kernel/kernel";
import { createTokenizerFrom } from "../../../support/kernelOf";
import { preTokenizerNames, preTokenizerOf } from "../../../../src/core/tokens/preTokenizers/preTokenizers";
import { knownTexts, nastyStrings } from "../../../support/nastyTexts";
import { SeededRandom } from "../../../support/seededRandom";
import { bytePairs, characterPairs } from "../../../support/vocabularies/sensitiveVocabularies";
import type { VocabularySpec } from "../../../support/vocabularies/vocabularySpec";

function packed(texts: readonly string[]) {
  const starts = new Uint32Array(texts.length);
  const ends = new Uint32Array(texts.length);
  let at = 0;
  texts.forEach((text, i) => {
    starts[i] = at;
    at += Buffer.byteLength(text);
    ends[i] = at;
  });
  return { bytes: new Uint8Array(Buffer.from(texts.join(""))), starts, ends };
}

function specOf(vocabulary: VocabularySpec, special: string): TokenizerSpec {
  const tokens = [...vocabulary.tokens, special];
  return {
    model: vocabulary.model,
    ...(vocabulary.pre === undefined ? {} : { pre: vocabulary.pre }),
    architecture: "llama",
    name: "",
    tokens: packed(tokens),
    tokenTypes: Int32Array.from([...vocabulary.tokenTypes, 3]),
    merges: packed(vocabulary.merges ?? []),
    ids: { bos: vocabulary.bos ?? 0, eos: vocabulary.eos ?? 0 },
  };
}

const texts = [knownTexts.join(" "), ...Array.from({ length: 12 }, (_, i) => mixed(100 + i))];

function mixed(seed: number): string {
  const special = seed % 2 === 0 ? "<|special|>" : "";
  return (
    nastyStrings(seed, 60).join(seed % 3 === 0 ? " a b" : "\n") +
    special +
    nastyStrings(seed + 1000, 20).join(" ")
  );
}

function cut(text: string, random: SeededRandom): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = at + 1 + random.below(120);
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

/** One name for each way of splitting. */
const families = preTokenizerNames.filter((name, i) => {
  const { pieces, byteLevel } = preTokenizerOf(name);
  const isLikeAnother = (other: string): boolean => {
    const first = preTokenizerOf(other).pieces;
    return pieces.kind === "scan" && first.kind === "scan" && first.next === pieces.next;
  };
  return byteLevel && !preTokenizerNames.slice(0, i).some(isLikeAnother);
});

const vocabularies = [
  ...families.map(bytePairs),
  characterPairs("gemma4", "gemma4", " abcdeEsT\t.,'-<19éж日本語"),
  characterPairs("gpt2", "sarvam-moe", " abcdeEsT\t.,'-<19éж日本語"),
  characterPairs("gpt2", "mmbert", " abcdeEsT\t.,'-<19éж日本語"),
];

describe("a text in pieces has the tokens of the whole", () => {
  it.each(vocabularies.map((each) => [each.name, each] as const))("%s", (_name, vocabulary) => {
    const kernel = createTokenizerFrom(specOf(vocabulary, "<|special|>"));
    const random = new SeededRandom(5);
    for (const text of texts) {
      for (const parseSpecial of [true, false]) {
        const options = { parseSpecial, addSpecial: true };
        const whole = kernel.count(text, options);
        const partBytes = 50 + random.below(500);
        expect(kernel.countPieces(cut(text, random), { ...options, partBytes })).toBe(whole);
        expect(kernel.encode(text, options)).toHaveLength(whole);
      }
    }
  });

  it("also where a piece ends in the middle of a character, and for bytes", () => {
    const kernel = createTokenizerFrom(specOf(bytePairs("qwen2"), "<|special|>"));
    const whole = kernel.count("a😀b");
    expect(kernel.countPieces(["a\ud83d", "\ude00b"])).toBe(whole);
    expect(kernel.countPieces([Buffer.from("a😀b").subarray(0, 3), Buffer.from("a😀b").subarray(3)])).toBe(
      whole,
    );
    expect(kernel.countPieces(["a\ud83d", "b"])).toBe(kernel.count("a\ufffdb"));
    expect(kernel.countPieces([])).toBe(0);
  });
});

describe("bytes that are no UTF-8", () => {
  it("are not cut where a broken character reaches across", () => {
    const bytes = Array.from(
      { length: 256 },
      (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, "0")}>`,
    );
    const texts = ["<unk>", ...bytes, ...Array.from("▁abcde"), "▁a", "ab", "de"];
    const kernel = createTokenizerFrom({
      model: "llama",
      architecture: "llama",
      name: "",
      tokens: packed(texts),
      tokenTypes: Int32Array.from(texts, (_, i) => (i === 0 ? 2 : i <= 256 ? 6 : 1)),
      scores: Float32Array.from(texts, (_, i) => -i),
      ids: {},
    });
    const broken = ["f0", "e2", "c3", "e282", "f09f98", "ff"].map((hex) => Buffer.from(hex, "hex"));
    const random = new SeededRandom(3);
    for (let i = 0; i < 60; i++) {
      const text = Buffer.concat(
        Array.from({ length: 80 }, () =>
          random.below(3) === 0
            ? random.pick(broken)
            : Buffer.from(random.pick(["a", "b", " ", "de", "c d e a b"])),
        ),
      );
      const whole = kernel.encode(text).length;
      expect(kernel.countPieces([text], { partBytes: 8 + random.below(60) })).toBe(whole);
    }
  });
});

describe("long work", () => {
  it("stops where the checkpoint throws", () => {
    const kernel = createTokenizerFrom(specOf(bytePairs("llama-bpe"), "<|special|>"));
    const stop = new Error("stop");
    for (const text of ["word ".repeat(50_000), "a".repeat(300_000)]) {
      let calls = 0;
      const checkpoint = () => {
        if (++calls > 1) throw stop;
      };
      expect(() => kernel.count(text, { checkpoint })).toThrow(stop);
    }
  });
});

describe("a compiled vocabulary", () => {
  const block = packVocabulary(compileVocabulary(specOf(bytePairs("qwen2"), "<|special|>")));

  it("gives the same tokens from its block", () => {
    const kernel = createTokenizerFrom(specOf(bytePairs("qwen2"), "<|special|>"));
    const again = unpackVocabulary(block.buffer);
    if (!again) throw new Error("not readable");
    const text = knownTexts.join("");
    expect(tokenizerOf(again).encode(text, { parseSpecial: true })).toEqual(
      kernel.encode(text, { parseSpecial: true }),
    );
  });

  it("is not read where a byte of it has changed or is missing", () => {
    const random = new SeededRandom(9);
    for (let i = 0; i < 40; i++) {
      const damaged = block.slice();
      const at = i < 20 ? i : random.below(damaged.length);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << random.below(8));
      expect(unpackVocabulary(damaged.buffer)).toBeUndefined();
    }
    for (const length of [0, 8, 24, 4096, block.length - 8]) {
      expect(unpackVocabulary(block.slice(0, length).buffer)).toBeUndefined();
    }
  });
});
