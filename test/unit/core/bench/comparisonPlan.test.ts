import { describe, expect, it } from "vitest";
import {
  comparisonDepths,
  comparisonPlanText,
  feasibilityOf,
  planComparison,
} from "../../../../src/core/bench/comparisonPlan";
import { refuseSecondCopy } from "../../../../src/core/memory/budget/refuseSecondCopy";
import { formatText } from "../../../../src/core/format";
import { sampleCurve, twoDevices } from "../../../support/sampleReports";

const perToken = { secondsPerToken: 1e-3, tokens: 2048, growth: 0.0001, generationSecondsPerToken: 0.05 };

describe("the price of a comparison", () => {
  it("counts three runs with their warm-up, the filling of the cache and both speeds", () => {
    const first = planComparison(perToken, [4096]);
    // depths 0 and 4096, each: 512 warm-up, filling, 2 x 512 prompt, 2 x 32 generated and one more
    expect(first.tokens).toBe(3 * (2 * (512 + 1024 + 64 + 1) + 4096));
    // at a thousand tokens per second, growing, and 20 generated ones per second
    expect(first.seconds).toBeGreaterThan(3 * (4.096 + 2 * 1.5 + 2 * 65 * 0.05));
  });

  it("names depths that the context holds, each dearer than the one before; in a small context what there is", () => {
    expect(comparisonDepths(40_000)).toEqual([4096, 8192, 16_384, 38_912]);
    const plans = comparisonDepths(262_144).map((depth) => planComparison(perToken, [depth]));
    expect(plans.at(-1)?.depths).toEqual([261_120]);
    const prices = plans.map(({ seconds }) => seconds);
    expect(prices).toEqual(prices.toSorted((p, q) => p - q));
    expect(comparisonDepths(2048)).toEqual([1024]);
    expect(comparisonDepths(512)).toEqual([0]);
    // K alone, V alone and both: five runs instead of three, for each of the depths
    const one = planComparison(perToken, [4096, 32_768]);
    expect(planComparison(perToken, [4096, 32_768], 3).tokens).toBe((one.tokens / 3) * 5);
  });

  it("comes from a curve where there is one, and declares what will count", () => {
    const seen = feasibilityOf(sampleCurve);
    // 26.1 s for the first 8,192 tokens; the beginning of them costs less
    expect(seen?.secondsPerToken).toBeLessThan(26.1 / 8192);
    expect(seen?.secondsPerToken).toBeGreaterThan(0.5 * (26.1 / 8192));
    const plan = planComparison(seen ?? perToken, [4096]);
    expect(formatText(comparisonPlanText(plan))).toMatch(
      /^Depth 4,096: [\d,]+ tokens, about [\d.]+ (s|min)\. Differences below 1\.0 % or below the noise will count as none\.$/,
    );
    expect(feasibilityOf({ ...sampleCurve, points: [] })).toBeUndefined();
  });
});

describe("a second copy of the model", () => {
  it("is refused where a device has no room beside the running server, which holds what it needs already", () => {
    // CUDA1: 9.2 of 11.1 GiB once; a second copy would need as much again
    expect(() => refuseSecondCopy(twoDevices, false)).not.toThrow();
    expect(() => refuseSecondCopy(twoDevices, true)).toThrow(
      /CUDA0 needs 12\.7 GiB, but only 10\.5 GiB is free/,
    );
    expect(() => refuseSecondCopy(twoDevices, true)).toThrow(/Probe the running server instead/);
  });

  it("is not refused where nobody knows what is free", () => {
    const devices = twoDevices.devices.map(({ freeBytes: _, ...device }) => device);
    expect(() => refuseSecondCopy({ ...twoDevices, devices }, true)).not.toThrow();
  });
});
