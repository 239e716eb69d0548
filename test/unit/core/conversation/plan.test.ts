import { describe, expect, it } from "vitest";
import { planConversation, type PlanRequest } from "../../../../src/core/conversation/plan";

const request: PlanRequest = {
  ...{ systemTokens: 1000, turnTokens: 200, answerTokens: 20, thinkingTokens: 0, turns: 3 },
  ...{ limit: 8192, kept: true },
  keeping: { memory: { kind: "plain" }, ubatch: 512, forgets: false },
};
/** What a prefill of so many tokens took, at a constant 1,000 tokens per second. */
const curve = {
  key: { model: "", build: "", flags: "" },
  points: [0, 1000, 2000, 3000, 4000].map((depth) => ({ depth, tokens: 1000, seconds: 1 })),
  generation: [{ depth: 0, tokensPerSecond: 10 }],
};

describe("the plan of a conversation", () => {
  it("reads what a server's answers said it read", () => {
    // two agents on one slot with copies in host memory, b11669: 1719 + 201, then 1939 + 201
    const { turns, refusedAtTurn } = planConversation({ ...request, systemTokens: 1500 });
    expect(turns.map(({ cachedTokens, readTokens }) => [cachedTokens, readTokens])).toEqual([
      [0, 1700],
      [1719, 201],
      [1939, 201],
    ]);
    expect(refusedAtTurn).toBeNull();
    // and without them
    const lost = planConversation({ ...request, systemTokens: 1500, kept: false });
    expect(lost.turns.map(({ readTokens }) => readTokens)).toEqual([1700, 1920, 2140]);
  });

  it("moves what stands behind the thinking with --cache-reuse", () => {
    // b11669, qwen3, --cache-reuse 64: behind 900 tokens 600 were left out, 1500 stayed, 40 were new: 2400 cached, 40 read
    const thought = { systemTokens: 700, answerTokens: 2101, thinkingTokens: 600, turnTokens: 200, turns: 2 };
    const cached = (reuse: number): number | undefined =>
      planConversation({ ...request, ...thought, keeping: { ...request.keeping, reuse } }).turns[1]
        ?.cachedTokens;
    expect(cached(64)).toBe(2400);
    // pieces that are shorter are read
    expect(cached(1501)).toBe(900);
    expect(cached(0)).toBe(900);
  });

  it("refuses a prompt of as many tokens as a slot has, and cuts the answer before it", () => {
    expect(planConversation({ ...request, limit: 1640 }).refusedAtTurn).toBe(3);
    const { turns, refusedAtTurn } = planConversation({ ...request, limit: 1641 });
    expect(refusedAtTurn).toBeNull();
    expect(turns.at(-1)).toMatchObject({ promptTokens: 1640, answerTokens: 1 });
  });

  it("adds up waits and answers, and tells what a lost cache costs", () => {
    const { turns, totalSeconds, lost } = planConversation({ ...request, curve });
    expect(turns[1]?.waitSeconds).toBeCloseTo(0.201, 2);
    expect(turns[1]?.answerSeconds).toBeCloseTo(2, 5);
    expect(totalSeconds).toBeCloseTo(1.2 + 0.201 * 2 + 6, 1);
    expect(lost).toMatchObject({ turn: 3, readTokens: 1640 });
    expect(lost?.extraSeconds).toBeCloseTo(1.64 - 0.201, 1);
  });

  it("gives no seconds without a curve, and says why where the curve does not reach", () => {
    const without = planConversation(request);
    expect(without).not.toHaveProperty("totalSeconds");
    expect(without.turns[0]).not.toHaveProperty("waitSeconds");
    const [point] = curve.points;
    const shallow = planConversation({
      ...request,
      turns: 60,
      turnTokens: 4000,
      limit: 300_000,
      curve: { ...curve, points: point === undefined ? [] : [point] },
    });
    expect(shallow.reason).toBeDefined();
    expect(shallow).not.toHaveProperty("totalSeconds");
  });
});
