import { describe, expect, it } from "vitest";
import { curveFileOf } from "../../../../src/core/history/namedCurve";

describe("a curve file", () => {
  it.each(["NaN", "Infinity", "-Infinity"])(
    "with %s, as Python writes it, is refused by the name of the field",
    (value) => {
      const text = `{"key": {"model": "a"}, "points": [{"depth": 0, "tokens": 512, "seconds": ${value}}]}`;
      expect(() => curveFileOf("curve.json", text, 0)).toThrow(
        `points[0].seconds of the curve is not a number within range: "${value}"`,
      );
    },
  );

  it("that is broken otherwise holds no measurement", () => {
    expect(() => curveFileOf("curve.json", '{"points": [', 0)).toThrow("no measurements");
  });
});
