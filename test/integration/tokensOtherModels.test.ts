import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GgufMetadata } from "../support/forge/ggufValue";
import { writeGguf } from "../support/forge/writeGguf";
import { differences, kernelOf } from "../support/kernelOf";
import { knownTexts, nastyStrings } from "../support/nastyTexts";
import { SeededRandom } from "../support/seededRandom";
import { idsByProgram } from "../support/tokenOracle";
import {
  overlappingTokens,
  rwkv,
  sentencePiece,
  unigram,
  withoutMerges,
  wordPiece,
} from "../support/vocabularies/smallVocabularies";

// Kinds of tokenizers no npm package has a vocabulary for: small vocabularies of our own, the real program's answers.
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-kinds-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const own = [
  "hello world",
  "  hello   world ",
  "the hello abcabc",
  "<extra_0>hello <sp ace>x <sp acx ▁<x> a <ex",
  "ﬁ ①Ａ 日本語 日本 ㌔㌔ a\tb\nc é é… x x",
  "</s> hello <unk> [MASK] [SEP]x [unused3] unusedtok",
  "<|user|>\n hello<|end|>  \n\n <|endoftext|>  the </s>  a",
  "<tool>x <tool <<tool>xx ool>x a\n\n\n\n\nb\n\n c\n",
  "a     x xab xabc xabcd  x\n\n\nx      xa </s>x<|plamo:eos|>",
  "Café CAFÉ cafe\u0301 ẞß İı Hello HELLO 12 123 don't $5+~",
];

/** Texts from the letters of the small vocabularies. */
function words(seed: number): string {
  const random = new SeededRandom(seed);
  const letters = Array.from("abc helowrdt▁日本ﬁ①…\t é.12");
  return Array.from({ length: 4000 }, () => random.pick(letters)).join("");
}

const texts = [...own, own.join("\n"), words(31), ...knownTexts, nastyStrings(32, 400).join(" ")];
const broken = Buffer.from("68ff20c08061e2962061e22861eda080f49080806520f09f98", "hex");

const kinds: readonly (readonly [name: string, metadata: () => GgufMetadata])[] = [
  ...[true, false].flatMap((addSpacePrefix) =>
    [true, false].flatMap((removeExtraWhitespaces) =>
      [true, false].map((characterMap) => {
        const rules = { addSpacePrefix, removeExtraWhitespaces, characterMap };
        return [`unigram ${JSON.stringify(rules)}`, () => unigram(rules)] as const;
      }),
    ),
  ),
  ["RWKV", () => rwkv()],
  ...[
    {},
    { lowercase: false },
    { lowercase: true, stripAccents: false },
    { lowercase: false, stripAccents: true },
    { addEos: true },
  ].map((rules) => [`WordPiece ${JSON.stringify(rules)}`, () => wordPiece(rules)] as const),
  ...[{}, { addSpacePrefix: false }, { name: "My Phi-3 mini" }, { eot: 6 }].map(
    (rules) => [`SentencePiece ${JSON.stringify(rules)}`, () => sentencePiece(rules)] as const,
  ),
  ["byte-pair, tokens that overlap", () => overlappingTokens()],
  ["byte-pair, no merges", () => withoutMerges()],
];

describe("llama.cpp's ids", () => {
  it.each(kinds)("%s", async (_name, metadata) => {
    const model = path.join(folder, "model.gguf");
    await writeGguf(model, { metadata: metadata(), tensors: [] });
    const kernel = kernelOf(model);
    for (const parseSpecial of [true, false]) {
      const options = { parseSpecial };
      for (const text of [texts.join("\n\n"), broken]) {
        const real = await idsByProgram(model, text, options);
        expect(differences(kernel, [text], [real], options)).toEqual([]);
      }
    }
  });
});
