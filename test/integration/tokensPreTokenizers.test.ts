import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { preTokenizerNames, preTokenizerOf } from "../../src/core/tokens/preTokenizers/preTokenizers";
import { runLlamaProgram } from "../support/llamaCpp";
import { differences, kernelOf } from "../support/kernelOf";
import { knownTexts, nastyStrings } from "../support/nastyTexts";
import { idsByProgram } from "../support/tokenOracle";
import { bytePairs, characterPairs, unmerged } from "../support/vocabularies/sensitiveVocabularies";
import { writeVocabularyModel } from "../support/vocabularyModel";

// Every `tokenizer.ggml.pre` against the real program, with vocabularies in which every other cut shows.
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-pre-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const text = [...knownTexts, ...nastyStrings(21, 900), ...unmerged].join("\n~\n");
const latin = nastyStrings(22, 300)
  .join(" ")
  .replace(/[^\n -~éßжя日本語]/g, "");
const options = { parseSpecial: false };

describe("pre-tokenizers cut as llama.cpp does", () => {
  it.each(preTokenizerNames.filter((name) => preTokenizerOf(name).byteLevel))("%s", async (pre) => {
    const model = await writeVocabularyModel(folder, bytePairs(pre));
    const real = await idsByProgram(model, text, options);
    expect(differences(kernelOf(model), [text], [real], options)).toEqual([]);
    await rm(model);
  });

  it.each([
    ["gpt2", "sarvam-moe"],
    ["gpt2", "mmbert"],
    ["gpt2", "granite-embed-multi-311m"],
    ["gemma4", "gemma4"],
    ["whitespace", "whitespace"],
  ])("model %s, pre %s", async (model, pre) => {
    // llama.cpp asserts that no blank is left when it looks merges up, so this vocabulary has none
    const characters = " abcdeEsT\t.,'-<19éж日本語\n".replace(
      model === "whitespace" ? /[ \n\t]/g : /[\n]/g,
      "",
    );
    const file = await writeVocabularyModel(folder, characterPairs(model, pre, characters));
    for (const each of [latin, text]) {
      const real = await idsByProgram(file, each, options);
      expect(differences(kernelOf(file), [each], [real], options)).toEqual([]);
    }
  });

  it("takes halves of a character in bytes apart, as llama.cpp does", async () => {
    const file = await writeVocabularyModel(folder, bytePairs("afmoe"));
    const halves = Buffer.from("61eda0bdedb8806220eda080edb08063", "hex");
    const real = await idsByProgram(file, halves, options);
    expect(differences(kernelOf(file), [halves], [real], options)).toEqual([]);
  });

  it("refuses a name that llama.cpp refuses", async () => {
    const model = await writeVocabularyModel(folder, bytePairs("no-such-pre"));
    // the reason is often lost: llama.cpp ends before its log is written
    const { exitCode } = await runLlamaProgram("llama-tokenize", ["-m", model, "-p", "x"]);
    expect(exitCode).toBe(1);
    expect(() => kernelOf(model)).toThrow("no-such-pre");
  });
});
