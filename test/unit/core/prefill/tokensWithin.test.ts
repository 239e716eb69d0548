import { describe, expect, it } from "vitest";
import { predict } from "../../../../src/core/prefill/predict";
import { tokensWithin } from "../../../../src/core/prefill/tokensWithin";
import { sampleCurve } from "../../../support/sampleReports";

describe("what can be read in a time", () => {
  it.each([0, 20_000])("is the inverse of the prediction, behind %i tokens in the cache", (cached) => {
    const room = tokensWithin(sampleCurve, { seconds: 120, cached });
    if (!room.known) throw new Error("unknown");
    const at = (tokens: number): number => {
      const found = predict(sampleCurve, { tokens, cached });
      return found.known ? found.seconds : Number.NaN;
    };
    expect(at(room.tokens)).toBeLessThanOrEqual(120);
    expect(at(room.tokens + 1)).toBeGreaterThan(120);
    expect(room.lowTokens).toBeLessThan(room.tokens);
    expect(room.highTokens).toBeGreaterThan(room.tokens);
    expect(room.atLeast).toBe(false);
  });

  it("says where the curve ends first, and that without points nobody knows", () => {
    expect(tokensWithin(sampleCurve, { seconds: 1e9 })).toMatchObject({ known: true, atLeast: true });
    expect(tokensWithin(sampleCurve, { seconds: 0 })).toMatchObject({ known: true, tokens: 0 });
    expect(tokensWithin({ ...sampleCurve, points: [] }, { seconds: 60 }).known).toBe(false);
  });
});
