import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Kernel } from "../../src/core/tokens/kernel/kernel";
import { mixedCorpus } from "../support/corpus";
import { forgedModel } from "../support/forge/forgeModel";
import { differences, kernelOf } from "../support/kernelOf";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { knownTexts, nastyStrings } from "../support/nastyTexts";
import { idsByProgram, idsByServer } from "../support/tokenOracle";
import { vocabulary, type VocabularyName } from "../support/vocabularies/vocabulary";

// Real vocabularies, token for token against the real llama.cpp. The full run with 200 000 strings for each is in bench/.
const names: readonly VocabularyName[] = [
  "qwen2_5",
  "llama3",
  "mistral_nemo",
  "deepseek_v3",
  "gptoss",
  "gemma3",
];

describe.each(names)("the vocabulary of %s", (name) => {
  let model: string;
  let server: LlamaServerProcess;
  let kernel: Kernel;
  let separator: number;

  beforeAll(async () => {
    model = await forgedModel({ vocabulary: name, contextLength: 512 });
    // not every chat template here is one llama.cpp reads, and none is needed
    const args = ["-c", "512", "-np", "1", "--no-jinja", "--chat-template", "chatml"];
    server = await startLlamaServer({ model, args, timeoutMs: 120_000 });
    kernel = kernelOf(model);
    separator = rareToken((await vocabulary(name)).tokens);
  }, 300_000);

  afterAll(() => server.stop());

  it("gives llama.cpp's ids for a mixed corpus", async () => {
    const parseSpecial = true;
    for (const [kind, texts] of mixedCorpus()) {
      const real = await idsByServer(server.url, texts, { parseSpecial, separator });
      expect({ kind, differ: differences(kernel, texts, real, { parseSpecial }) }).toEqual({
        kind,
        differ: [],
      });
    }
  }, 240_000);

  it.each([false, true])(
    "gives llama.cpp's ids for nasty strings (special tokens parsed: %s)",
    async (parseSpecial) => {
      const texts = [...knownTexts, ...nastyStrings(parseSpecial ? 1 : 2, 2500)];
      const real = await idsByServer(server.url, texts, { parseSpecial, separator });
      expect(differences(kernel, texts, real, { parseSpecial })).toEqual([]);
    },
    120_000,
  );

  it("adds what the model adds to a prompt, and reads bytes that are no UTF-8 as llama.cpp does", async () => {
    const broken = "ff 61ff62 c080 c3 e22861 e2962061 eda080 f4908080 f8888080 80 f09f98";
    const bytes = Buffer.from(`4869${broken.replaceAll(" ", "20610a")}`, "hex");
    const options = { parseSpecial: true, addSpecial: true };
    const real = await idsByProgram(model, bytes, options);
    expect(differences(kernel, [bytes], [real], options)).toEqual([]);
  }, 120_000);
});

/** A token that no test text can give: some long word near the end of the vocabulary. */
function rareToken(tokens: readonly string[]): number {
  const id = tokens.findLastIndex((text) => /^[a-z]{9,}$/.test(text));
  if (id < 0) throw new Error("no rare token");
  return id;
}
