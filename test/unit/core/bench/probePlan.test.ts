import { describe, expect, it } from "vitest";
import {
  planBench,
  planStream,
  priceStream,
  refuseDear,
  refuseTooDeep,
} from "../../../../src/core/bench/probePlan";
import { readSpeedSeries } from "../../../support/speedSeries";

const limits = { budgetSeconds: 60, maxDepth: 131072 };

describe("planning a probe", () => {
  /** Series that begin with a chunk of at most 2048 tokens and go deep enough to check the price. */
  const series = readSpeedSeries().filter((s) => s.split === "dev" && s.contiguous);

  it("stays in the budget on nearly all published machines", () => {
    const spent = series.flatMap(({ curve: { points } }) => {
      const head = points.filter((p) => p.depth + p.tokens <= 2048);
      const tokens = head.reduce((s, p) => s + p.tokens, 0);
      const plan = planStream(
        { secondsPerToken: head.reduce((s, p) => s + p.seconds, 0) / tokens, tokens },
        limits,
      );
      if (plan === undefined || tokens === 0) return [];
      const last = points.at(-1);
      if (last === undefined || last.depth + last.tokens < plan.tokens) return [];
      return [points.filter((p) => p.depth < plan.tokens).reduce((s, p) => s + p.seconds, 0)];
    });
    expect(spent.length).toBeGreaterThan(5);
    expect(spent.filter((s) => s > 75)).toEqual([]);
  });

  it("prices distinct depths with their filling", () => {
    const plan = planBench({ secondsPerToken: 1e-3, tokens: 2048 }, { ...limits, depths: [8192, 0, 8192] });
    expect(plan?.depths).toEqual([0, 8192]);
    // per depth: warm-up 512, filling, two prompts of 512, two answers of 16 and their warm-up
    // depth 0 once more at the end
    expect(plan?.tokens).toBe(3 * (512 + 1024 + 33) + 8192);
    expect(plan?.seconds).toBeGreaterThan(plan === undefined ? 0 : plan.tokens * 0.9e-3);
  });

  it("chooses the deepest three depths the budget allows", () => {
    const plan = planBench({ secondsPerToken: 1e-3, tokens: 2048, loadSeconds: 5 }, limits);
    const [, quarter, deepest] = plan?.depths ?? [];
    expect(quarter).toBe(Math.round((deepest ?? 0) / 4 / 256) * 256);
    expect(deepest).toBeGreaterThan(16384);
    expect(plan?.seconds).toBeLessThanOrEqual(60);
  });

  it("stops at the context", () => {
    const fast = { secondsPerToken: 1e-5, tokens: 2048 };
    expect(planStream(fast, { budgetSeconds: 60, maxDepth: 4096 })?.tokens).toBe(4096);
    expect(planBench(fast, { budgetSeconds: 60, maxDepth: 4096 })?.depths.at(-1)).toBe(3584);
  });

  it("stops on the way to generate, where that shows more than the first tokens did", () => {
    const plan = planStream({ secondsPerToken: 1e-4, tokens: 2048 }, { ...limits, maxDepth: 32_768 });
    expect(plan?.stops).toEqual([8192, 16_384, 32_768]);
    expect(planStream({ secondsPerToken: 1e-4, tokens: 2048 }, { ...limits, maxDepth: 4096 })?.stops).toEqual(
      [4096],
    );
    // two tokens per second: an eighth of the budget at each of three stops, not a minute
    const slow = { secondsPerToken: 1e-4, tokens: 2048, generationSecondsPerToken: 0.5 };
    const { generatedTokens = 0 } = planStream(slow, { ...limits, maxDepth: 32_768 }) ?? {};
    expect(generatedTokens).toBeGreaterThanOrEqual(4);
    expect(3 * generatedTokens * 0.5).toBeLessThan(0.2 * limits.budgetSeconds);
  });

  it("prices depths that were asked for, and refuses those that are too dear, with what would do", () => {
    // the article's machine: 2.87 ms a token over the first 8K, 21.5 minutes for 128K
    const seen = { secondsPerToken: 23.5 / 8192, tokens: 8192, growth: 4.3e-5 };
    const plan = priceStream(seen, [126_000], 60);
    expect(plan.seconds).toBeGreaterThan(1056);
    expect(plan.seconds).toBeLessThan(1.2 * 1451);
    const refusal = (): void => refuseDear(plan, { budgetSeconds: 60, left: 50 });
    expect(refusal).toThrow(/would take about 2[\d.]+ min; 50 s of the 60 s allowed are left/);
    const allowed = Number(/Allow ([\d,]+) s/.exec(messageOf(refusal))?.[1]?.replace(",", ""));
    expect(() => refuseDear(plan, { budgetSeconds: allowed, left: allowed - 10 })).not.toThrow();
    expect(() => refuseTooDeep([0, 126_000], 131_072)).not.toThrow();
    expect(() => refuseTooDeep([0, 131_072], 131_072)).toThrow(/a slot of this server holds 131,072 tokens/);
  });

  it("refuses where not even a slope would show", () => {
    expect(planStream({ secondsPerToken: 0.1, tokens: 512 }, limits)).toBeUndefined();
    expect(planBench({ secondsPerToken: 0.1, tokens: 512 }, limits)).toBeUndefined();
  });
});

function messageOf(act: () => void): string {
  try {
    act();
  } catch (error) {
    return String(error);
  }
  return "";
}
