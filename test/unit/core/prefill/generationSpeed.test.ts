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
