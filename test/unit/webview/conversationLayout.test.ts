import { describe, expect, it } from "vitest";
import { conversationLayout, partsOf } from "../../../src/webview/charts/conversationLayout";
import { conversationOfLog } from "../../support/sampleConversation";

const box = { width: 800, tokensHeight: 200, timeHeight: 50 };
const programOf = (...about: Parameters<typeof conversationOfLog>) => {
  const [program] = conversationOfLog(...about).programs;
  if (program === undefined) throw new Error("nothing is shown");
  return program;
};

describe("the picture of a conversation", () => {
  it("stacks what a request was made of, to its tokens on the scale of the context", () => {
    const program = programOf("chat-plain");
    const { bars, limitY = Number.NaN } = conversationLayout(program, box);
    const perToken = (box.tokensHeight - limitY) / (program.limit ?? Number.NaN);
    expect(bars).toHaveLength(program.requests.length);
    for (const { tokens, of } of bars) {
      const { promptTokens = Number.NaN, generatedTokens = Number.NaN } =
        of as (typeof program.requests)[number];
      const height = tokens.reduce((sum, part) => sum + part.height, 0);
      expect(height).toBeCloseTo((promptTokens + generatedTokens) * perToken, 6);
      // on the ground, and none over another
      expect((tokens[0]?.y ?? 0) + (tokens[0]?.height ?? 0)).toBeCloseTo(box.tokensHeight, 6);
      for (const [i, part] of tokens.entries())
        if (i > 0) expect(part.y + part.height).toBeCloseTo(tokens[i - 1]?.y ?? 0, 6);
    }
  });

  it("stays in its box, refused prompts too, and has no two bars over each other", () => {
    for (const name of ["three-turns", "two-agents-no-cache-ram", "slot-busy", "cancelled"]) {
      const { bars } = conversationLayout(programOf(name), box);
      for (const [i, bar] of bars.entries()) {
        expect(bar.x + bar.width).toBeLessThanOrEqual(box.width);
        if (i > 0) expect(bar.x).toBeGreaterThan((bars[i - 1]?.x ?? 0) + (bars[i - 1]?.width ?? 0) - 1e-6);
        for (const { y, height } of bar.tokens) {
          expect(y).toBeGreaterThanOrEqual(0);
          expect(y + height).toBeLessThanOrEqual(box.tokensHeight + 1e-6);
        }
        for (const { y, height } of bar.times) expect(y + height).toBeLessThanOrEqual(box.timeHeight);
      }
    }
  });

  it("draws a running prompt as far as it is read, within its length", () => {
    const { bars } = conversationLayout(programOf("long-prompts", "progress = 0.68"), box);
    const bar = bars.at(-1);
    const [part] = bar?.tokens ?? [];
    expect((part?.height ?? 0) / (bar?.outline?.height ?? 1)).toBeCloseTo(0.683, 2);
    expect(bar?.times).toHaveLength(1);
  });

  it("makes no parts of what is not known", () => {
    const cancelled = programOf("cancelled").requests.find(({ outcome }) => outcome === "cancelled");
    expect(cancelled && Object.values(partsOf(cancelled)).reduce((sum, tokens) => sum + tokens, 0)).toBe(0);
  });
});
