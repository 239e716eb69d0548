import { describe, expect, it } from "vitest";
import { planBench, planStream } from "../../../../src/core/bench/probePlan";
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
    expect(plan?.tokens).toBe(2 * (512 + 1024 + 33) + 8192);
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

  it("refuses where not even a slope would show", () => {
    expect(planStream({ secondsPerToken: 0.1, tokens: 512 }, limits)).toBeUndefined();
    expect(planBench({ secondsPerToken: 0.1, tokens: 512 }, limits)).toBeUndefined();
  });
});
