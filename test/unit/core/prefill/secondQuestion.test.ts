import { describe, expect, it } from "vitest";
import type { Layer } from "../../../../src/core/model/model";
import type { PromptMemory } from "../../../../src/core/prefill/secondQuestion";
import { promptKeeping, reread, secondQuestion } from "../../../../src/core/prefill/secondQuestion";

const plain: PromptMemory = { kind: "plain" };
const sliding: PromptMemory = { kind: "slidingWindow", window: 32 };
const recurrent: PromptMemory = { kind: "recurrent" };

/**
 * `prompt_n` that llama-server (build 11669, ubatch 512, one slot) reported for requests after a document of 3000 tokens
 * with a question of 6: another short question, a longer follow-up, the same again, half of the document.
 */
describe("what a second question makes the server read again", () => {
  it.each([
    [plain, { sharedTokens: 3000, promptTokens: 3007 }, 7],
    [plain, { sharedTokens: 3006, promptTokens: 3706 }, 700],
    [plain, { sharedTokens: 3006, promptTokens: 3006 }, 1],
    [plain, { sharedTokens: 1500, promptTokens: 1507 }, 7],
    [sliding, { sharedTokens: 3000, promptTokens: 3007 }, 7],
    [sliding, { sharedTokens: 3006, promptTokens: 3706 }, 700],
    [sliding, { sharedTokens: 1500, promptTokens: 1507 }, 1507],
    [recurrent, { sharedTokens: 3000, promptTokens: 3007 }, 517],
    [recurrent, { sharedTokens: 3006, promptTokens: 3706 }, 704],
    [recurrent, { sharedTokens: 3006, promptTokens: 3006 }, 4],
    [recurrent, { sharedTokens: 1500, promptTokens: 1507 }, 1507],
  ])("%o with %o: %i", (memory, prompt, expected) => {
    const answer = reread({ memory, firstPromptTokens: 3006, ubatch: 512, ...prompt });
    expect(answer.tokens).toBe(expected);
    expect(answer.cached + answer.tokens).toBe(prompt.promptTokens);
  });
});

describe("another question about the same text", () => {
  const layer = (kind: Layer["kind"], state = false): Layer => ({
    index: 0,
    kind,
    heads: 8,
    kvHeads: 2,
    keyLength: 64,
    valueLength: 64,
    ownsKv: true,
    feedForward: 256,
    mtp: false,
    ...(state && { state: { shift: 1, state: 1 } }),
  });
  const curve = {
    key: { model: "m", build: "b", flags: "" },
    points: [0, 2048, 4096].map((depth) => ({ depth, tokens: 2048, seconds: 2 })),
    generation: [],
  };
  const tokens = (layers: readonly Layer[], launch = {}, slidingWindow = 0): number =>
    secondQuestion(promptKeeping({ layers, slidingWindow }, launch), curve, 6000).reread.tokens;

  it("is read alone with plain attention, from the last checkpoint with recurrent state", () => {
    expect(tokens([layer("attention")])).toBe(128);
    // 4 + 512 tokens before the end of the prompt
    expect(tokens([layer("attention"), layer("recurrent", true)])).toBe(516);
    expect(tokens([layer("recurrent", true)], { ubatchSize: 2048 })).toBe(2052);
  });

  it("is read alone with a window it fits in, too", () => {
    expect(tokens([layer("attention"), layer("swa")], {}, 1024)).toBe(128);
  });

  it("needs everything again where nothing is kept", () => {
    expect(tokens([layer("attention")], { cachePrompt: false })).toBe(6000);
    expect(tokens([layer("recurrent", true)], { ctxCheckpoints: 0 })).toBe(6000);
  });

  it("does not count MTP layers as the model's memory", () => {
    expect(tokens([layer("attention"), { ...layer("recurrent", true), mtp: true }])).toBe(128);
  });
});
