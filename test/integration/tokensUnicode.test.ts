import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { differences, kernelOf } from "../support/kernelOf";
import { idsByProgram } from "../support/tokenOracle";
import { bytePairs } from "../support/vocabularies/sensitiveVocabularies";
import { writeVocabularyModel } from "../support/vocabularyModel";

// llama.cpp has its own table of Unicode. These two families together tell all its classes apart.
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-unicode-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Every code point up to U+3400 and of the planes with few blocks; of the large blocks every 37th and their ends. */
function codePoints(): number[] {
  const all = Array.from({ length: 0x110000 }, (_, code) => code);
  const large = [
    [0x3400, 0xa000],
    [0xac00, 0xf900],
    [0x17000, 0x1b000],
    [0x20000, 0xe0000],
    [0xe1000, 0x110000],
  ] as const;
  return all.filter((code) => {
    const block = large.find(([from, to]) => code >= from && code < to);
    const surrogate = code >= 0xd800 && code < 0xe000;
    return !surrogate && (block === undefined || code % 37 === 0 || isEdge(code));
  });
}

/** Ends of blocks and of what Unicode has assigned in them: around every multiple of 16 that this Unicode knows of. */
function isEdge(code: number): boolean {
  const assigned = (each: number): boolean => each < 0x110000 && !/\p{Cn}/u.test(String.fromCodePoint(each));
  return assigned(code) !== assigned(code + 1) || assigned(code) !== assigned(code - 1);
}

describe("llama.cpp's classes of code points", () => {
  it.each(["qwen35", "deepseek-v3", "gpt-2"])(
    "show in %s",
    async (pre) => {
      const model = await writeVocabularyModel(folder, bytePairs(pre));
      const text = codePoints()
        .map((code) => String.fromCodePoint(code))
        .map((character) => `a${character}a ${character}${character}1${character}!${character}\n`)
        .join("");
      const options = { parseSpecial: false };
      const real = await idsByProgram(model, text, options);
      expect(differences(kernelOf(model), [text], [real], options)).toEqual([]);
    },
    120_000,
  );
});
