import { describe, expect, it } from "vitest";
import type { PromptMemory } from "../../../../src/core/prefill/secondQuestion";
import { reread } from "../../../../src/core/prefill/secondQuestion";

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

  it("keeps recurrent state at the start of the last user message", () => {
    // 3456 tokens in two messages, the second of 933: seen on the same build.
    const answer = reread({
      memory: recurrent,
      firstPromptTokens: 3456,
      sharedTokens: 2600,
      promptTokens: 3456,
      ubatch: 512,
      lastMessageStart: 3456 - 933,
    });
    expect(answer.tokens).toBe(933);
  });
});
