import { describe, expect, it } from "vitest";
import { generationCost } from "../../../../src/core/prefill/generationSpeed";
import { readSpeedSeries } from "../../../support/speedSeries";

interface Trial {
  readonly octaves: number;
  readonly inside: boolean;
}

/** Every series cut off at each of its depths, and generation at each deeper one predicted from the first depth and that one. */
function trials(): readonly Trial[] {
  return readSpeedSeries()
    .filter(({ split }) => split !== "negative")
    .flatMap(({ curve }) => {
      const points = curve.generation.toSorted((a, b) => a.depth - b.depth);
      const first = points[0];
      if (first === undefined) return [];
      return points
        .filter(({ depth }) => depth > first.depth && depth >= 1024)
        .flatMap((last) =>
          points
            .filter(({ depth }) => depth > last.depth)
            .flatMap(({ depth, tokensPerSecond }): readonly Trial[] => {
              const cost = generationCost({ generation: [first, last] }, depth);
              if (cost === undefined) return [];
              const truth = 1 / tokensPerSecond;
              return [
                { octaves: Math.log2(depth / last.depth), inside: cost.low <= truth && truth <= cost.high },
              ];
            }),
        );
    });
}

describe("generation measured at several depths", () => {
  // the article's final run: f16, K of q8_0, f16
  const generation = [
    { depth: 0, tokensPerSecond: 17.38 },
    { depth: 32_768, tokensPerSecond: 14.77 },
    { depth: 131_072, tokensPerSecond: 9.72 },
  ];

  it("is read between them in seconds per token", () => {
    const { secondsPerToken = 0 } = generationCost({ generation }, 81_920) ?? {};
    expect(secondsPerToken).toBeCloseTo((1 / 14.77 + 1 / 9.72) / 2, 6);
  });

  it("has a band of its own: as wide as the speeds scatter, whatever prefill does", () => {
    const width = (points: typeof generation): number => {
      const { low = 1, high = 1 } = generationCost({ generation: points }, 32_768) ?? {};
      return high / low;
    };
    const repeated = (factor: number): typeof generation =>
      generation.flatMap((point) => [point, { ...point, tokensPerSecond: point.tokensPerSecond * factor }]);
    expect(width(repeated(1.1))).toBeGreaterThan(width(repeated(1.01)));
    // the runs of that day differ by 2.5 % at most, and the band holds them
    expect(width(repeated(17.16 / 17.59))).toBeGreaterThan(17.59 / 17.16);
  });
});

describe("the band of generation speed", () => {
  const all = trials();

  it.each([
    [0, 0.5],
    [0.5, 1.5],
    [1.5, 2.5],
    [2.5, 3.5],
    [3.5, 6],
  ])("holds published speeds %d to %d doublings deeper about as often as it says", (least, most) => {
    const some = all.filter(({ octaves }) => octaves > least && octaves <= most);
    const share = some.filter(({ inside }) => inside).length / some.length;
    expect(some.length).toBeGreaterThan(500);
    expect(share).toBeGreaterThan(0.75);
    expect(share).toBeLessThan(0.9);
  });
});
