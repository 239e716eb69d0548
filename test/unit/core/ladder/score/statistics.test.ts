import { describe, expect, it } from "vitest";
import { defaultCriteria } from "../../../../../src/core/ladder/plan/plan";
import { acceptanceRate, mcNemar, proportion } from "../../../../../src/core/ladder/score/statistics";

describe("the interval of a share", () => {
  // Clopper-Pearson 95 %, in percent, as published tables have them
  it.each([
    [9, 10, 55.5, 99.7],
    [10, 10, 69.2, 100],
    [18, 20, 68.3, 98.8],
    [27, 30, 73.5, 97.9],
    [57, 60, 86.1, 99.0],
    [0, 10, 0, 30.8],
  ])("of %i in %i is %f to %f percent", (correct, of, low, high) => {
    const { low: from, high: to } = proportion(correct, of);
    expect(100 * from).toBeCloseTo(low, 0);
    expect(100 * to).toBeCloseTo(high, 0);
  });

  it("of nothing is everything", () => {
    expect(proportion(0, 0)).toEqual({ correct: 0, of: 0, low: 0, high: 1 });
  });
});

describe("what a criterion lets through", () => {
  const rule = { canaries: 20, runs: 3, perRun: 0, pooled: 56 };
  it.each([
    [0.8, 0.004, 3],
    [0.85, 0.042, 3],
    [0.9, 0.27, 2],
    [0.95, 0.82, 2],
    [0.98, 0.993, 3],
  ])("56 of 60 accepts recall %f with chance %f", (recall, chance, digits) => {
    expect(acceptanceRate(recall, rule)).toBeCloseTo(chance, digits);
  });

  it("the default sends a recall of 0.98 away in less than 2 of 100, and 18 in each run would not", () => {
    const rule = { canaries: 20, runs: 3, perRun: defaultCriteria.perRun, pooled: defaultCriteria.pooled };
    expect(acceptanceRate(0.85, rule)).toBeLessThanOrEqual(0.05);
    expect(acceptanceRate(0.98, rule)).toBeGreaterThanOrEqual(0.98);
    expect(acceptanceRate(0.98, { ...rule, perRun: 18 })).toBeLessThan(0.98);
  });

  it("one run of 9 in 10 accepts 0.80 almost four times in ten", () => {
    expect(acceptanceRate(0.8, { canaries: 10, runs: 1, perRun: 9, pooled: 9 })).toBeCloseTo(0.376, 3);
  });
});

it("six flips in one direction are the first that count", () => {
  expect(mcNemar(5, 0)).toBeGreaterThan(0.05);
  expect(mcNemar(6, 0)).toBeLessThan(0.05);
  expect(mcNemar(0, 0)).toBe(1);
});
