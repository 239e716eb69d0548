import { describe, expect, it } from "vitest";
import { costSteps } from "../../../../src/core/bench/costSteps";
import { readSpeedSeries } from "../../../support/speedSeries";

const series = readSpeedSeries();

describe("steps in the cost of a sweep", () => {
  it("finds the published sweep that was disturbed, at its second slow span", () => {
    const disturbed = series.find((s) => s.split === "negative");
    const [step] = costSteps(disturbed?.curve.points ?? []);
    expect(step?.depth).toBe(22528);
    expect(step?.kind).toBe("interference");
    expect(step?.ratio).toBeGreaterThan(1.5);
  });

  it("is silent on clean sweeps but for those with real steps", () => {
    const fired = series
      .filter((s) => s.split === "dev" && s.contiguous)
      .filter((s) => costSteps(s.curve.points).length > 0)
      .map((s) => s.id);
    // One splits its attention buffers at powers of two, the other leaves the GPU's fast path at 6K.
    expect(fired).toEqual(["ik258-r1-udq2kxl-5090-7975wx", "ik562-llama31-8b-4080-vulkan"]);
  });

  it("finds an injected slow stretch wherever it lies, and calls a lasting one a knee", () => {
    const clean = series.find((s) => s.id === "ik370-glmz1-32b-3090ti-ik")?.curve.points ?? [];
    for (const from of [10, 25, 40]) {
      const hit = clean.map((p, i) => (i >= from && i < from + 6 ? { ...p, seconds: p.seconds * 1.3 } : p));
      expect(costSteps(hit)[0]).toMatchObject({ depth: clean[from]?.depth, kind: "interference" });
      const knee = clean.map((p, i) => (i >= from ? { ...p, seconds: p.seconds * 1.3 } : p));
      expect(costSteps(knee)[0]).toMatchObject({ depth: clean[from]?.depth, kind: "knee" });
    }
  });
});
