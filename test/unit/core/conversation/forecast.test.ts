import { describe, expect, it } from "vitest";
import { forecastOf } from "../../../../src/core/conversation/forecast";
import type { Ledger } from "../../../../src/core/conversation/ledger";

/** A conversation whose prompts have these lengths, in a slot of 65,536 tokens. */
const ledger = (prompts: readonly number[]): Ledger => ({
  requests: prompts.map((promptTokens, index) => ({
    ...{ number: index + 1, start: 1, slot: 0, task: index, conversation: 1, outcome: "done", limit: 65_536 },
    ...{ promptTokens, generatedTokens: 500, fillTokens: promptTokens + 499 },
  })),
  ...{ earlier: 0, running: [], servers: [], lines: 0, unknown: { lines: 0 } },
});

describe("the forecast of a conversation", () => {
  it("counts the turns that still have fewer tokens than the limit", () => {
    // 41,536 + 6 × 4,000 is the limit itself, and refused
    expect(forecastOf(ledger([33_536, 37_536, 41_536]))?.turnsLeft).toEqual({ middle: 5, low: 5, high: 5 });
    expect(forecastOf(ledger([33_535, 37_535, 41_535]))?.turnsLeft).toEqual({ middle: 6, low: 6, high: 6 });
  });

  it("widens with the spread of the growth", () => {
    const { turnsLeft } = forecastOf(ledger([20_000, 22_000, 28_000, 29_000, 36_000, 41_000])) ?? {};
    expect(turnsLeft?.middle).toBe(5);
    expect(turnsLeft?.low).toBeLessThan(5);
    expect(turnsLeft?.high).toBeGreaterThan(5);
  });

  it("says nothing of turns after too few, or where nothing grows", () => {
    expect(forecastOf(ledger([]))).toBeUndefined();
    expect(forecastOf(ledger([9000, 12_000]))).not.toHaveProperty("turnsLeft");
    expect(forecastOf(ledger([9000, 9000, 9000]))).not.toHaveProperty("turnsLeft");
  });
});
