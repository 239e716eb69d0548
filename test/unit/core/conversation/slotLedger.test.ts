import { describe, expect, it } from "vitest";
import { readSlotProgress } from "../../../../src/core/bench/slotProgress";
import { forecastOf } from "../../../../src/core/conversation/forecast";
import type { Ledger } from "../../../../src/core/conversation/ledger";
import { SlotLedger } from "../../../../src/core/conversation/slotLedger";

/**
 * Looks at `/slots` of llama-server b11669 during three turns of an agent, of which the answers said (cache_n, prompt_n,
 * predicted_n): 0, 6000, 60; 6059, 9001, 60; 15119, 3001, 60. Each: busy, task, n_prompt_tokens, …_processed, …_cache, n_decoded.
 */
const looks: readonly (readonly [boolean, number, number, number, number, number])[] = [
  [true, 1, 2048, 1536, 0, 0],
  [true, 1, 5632, 5120, 0, 0],
  [true, 1, 6048, 6000, 0, 48],
  [true, 85, 6571, 0, 6059, 0],
  [true, 85, 10_667, 4096, 6059, 0],
  [true, 85, 15_069, 9001, 6059, 9],
  [true, 210, 17_679, 2048, 15_119, 0],
  [false, 210, 18_179, 3001, 15_119, 60],
];

function watched(seen = looks): Ledger[] {
  const ledger = new SlotLedger();
  return seen.map(([busy, task, tokens, processed, cache, decoded], at) =>
    ledger.see(
      readSlotProgress([
        {
          ...{ id: 0, n_ctx: 32_768, is_processing: busy, id_task: task },
          ...{ n_prompt_tokens: tokens, n_prompt_tokens_processed: processed, n_prompt_tokens_cache: cache },
          next_token: [{ n_decoded: decoded }],
        },
      ]) ?? [],
      at,
    ),
  );
}

describe("the ledger of a server without a log", () => {
  const last = watched().at(-1);

  it("has the figures of the answers", () => {
    expect(last?.requests.map((its) => [its.cachedTokens, its.readTokens, its.promptTokens])).toEqual([
      [0, 6000, 6000],
      [6059, 9001, 15_060],
      [15_119, 3001, 18_120],
    ]);
    expect(last?.requests.at(-1)).toMatchObject({ generatedTokens: 60, fillTokens: 18_179, limit: 32_768 });
  });

  it("leaves empty what slots do not tell, also how long an answer became whose end nobody saw", () => {
    for (const request of last?.requests ?? []) {
      for (const unknown of ["againTokens", "newTokens", "prefillSeconds", "generationSeconds", "reread"])
        expect(request).not.toHaveProperty(unknown);
      expect(request.outcome).toBe("ended");
    }
    expect(last?.requests[0]).not.toHaveProperty("generatedTokens");
  });

  it("takes turns that go on in the slot for one conversation", () => {
    expect(last?.requests.map(({ conversation }) => conversation)).toEqual([1, 1, 1]);
    expect(last && forecastOf(last)).toMatchObject({ fillTokens: 18_179, limit: 32_768 });
  });

  it("shows what runs, whose length it does not know before the prompt is read", () => {
    const running = watched().map(({ running: [its] }) => its);
    expect(running[1]).toMatchObject({ stage: "reading", cachedTokens: 0 });
    expect(running[1]).not.toHaveProperty("promptTokens");
    expect(running[5]).toMatchObject({ stage: "answering", promptTokens: { low: 15_060, high: 15_060 } });
    expect(running.at(-1)).toBeUndefined();
  });

  it("does not count what a slot did before anybody looked, and counts what came and went between two looks", () => {
    expect(watched(looks.slice(7)).at(-1)?.requests).toEqual([]);
    const between = watched([
      [false, 1, 6059, 6000, 0, 60],
      [false, 85, 15_119, 9001, 6059, 60],
    ]);
    expect(between.at(-1)?.requests).toMatchObject([{ task: 85, readTokens: 9001, generatedTokens: 60 }]);
  });
});
