import { describe, expect, it } from "vitest";
import { daySpread, type DayRun } from "../../../../src/core/history/daySpread";
import { chooseCurve } from "../../../../src/core/history/curveChoice";
import type { HistoryRecord } from "../../../../src/core/history/historyRecord";
import type { DepthCurve } from "../../../../src/core/prefill/depthCurve";
import { predict } from "../../../../src/core/prefill/predict";
import { SeededRandom } from "../../../support/seededRandom";
import { readSpeedSeries } from "../../../support/speedSeries";

const day = 86_400_000;
const key = { model: "/m.gguf", build: "b11669", flags: "" };
/** An article's first run: chunks to 128K. */
const run = readSpeedSeries().find(({ id }) => id === "seed-run1")?.curve;
if (run === undefined) throw new Error("no series");
const chunks: DepthCurve = { ...run, key, points: run.points.filter(({ depth }) => depth < 70_000) };
const slower = (factor: number): DepthCurve => ({
  ...chunks,
  points: chunks.points.map((point) => ({ ...point, seconds: factor * point.seconds })),
});
/** What the same prompt took on three occasions, and on the first of them the chunks were measured. */
const took = [1291, 1451, 1056];

const probe = (daysAgo: number, curve: DepthCurve, now: number): HistoryRecord => ({
  ...{ version: 1, id: String(daysAgo), kind: "probe", at: now - daysAgo * day, tool: "llama-server", curve },
});

describe("the spread between days", () => {
  it("is the constant until there are three days", () => {
    const now = Date.now();
    const two = [probe(1, chunks, now), probe(2, slower(1.1), now)];
    const chosen = chooseCurve(two, { ...key, now });
    expect(chosen?.origin.days).toBeUndefined();
    expect(chosen?.curve.spread).toBeCloseTo(0.16, 6);
    // from run 1 alone: all three of the article's times
    const prediction = chosen && predict(chosen.curve, { tokens: 131_072 });
    if (prediction?.known !== true) throw new Error("unknown");
    for (const time of took) {
      expect(prediction.lowSeconds).toBeLessThan(time);
      expect(prediction.highSeconds).toBeGreaterThan(time);
    }
  });

  it("is learned from the article's three occasions, around their mean", () => {
    const now = Date.now();
    const records = took.map((time, i) => probe(i + 1, slower(time / 1291), now));
    const chosen = chooseCurve(records, { ...key, now });
    expect(chosen?.origin.days).toBe(3);
    const prediction = chosen && predict(chosen.curve, { tokens: 131_072 });
    if (prediction?.known !== true) throw new Error("unknown");
    const mean = Math.exp(took.reduce((sum, time) => sum + Math.log(time), 0) / 3);
    expect(Math.abs(prediction.seconds / mean - 1)).toBeLessThan(0.05);
    for (const time of took) {
      expect(prediction.lowSeconds).toBeLessThan(time);
      expect(prediction.highSeconds).toBeGreaterThan(time);
    }
    // of today, the run itself says more
    const today = chooseCurve([...records, probe(0, chunks, now)], { ...key, now });
    expect(today?.curve.spread).toBeLessThan(0.1);
  });

  it.each([
    [0.02, 4],
    [0.16, 3],
    [0.16, 8],
    [0.3, 6],
  ])(
    "holds another day about as often as it claims, or more: days differ by %d, %i of them seen",
    (sigma, days) => {
      const random = new SeededRandom(7);
      const normal = (): number => {
        let sum = -6;
        for (let i = 0; i < 12; i++) sum += random.below(1_000_000) / 1_000_000;
        return sum;
      };
      let inside = 0;
      const trials = 400;
      for (let trial = 0; trial < trials; trial++) {
        const runs = Array.from({ length: days }, (_, i): DayRun => ({
          at: i * day,
          curve: slower(Math.exp(sigma * normal())),
        }));
        const found = daySpread(chunks, runs);
        if (found === undefined) throw new Error("nothing learned");
        if (Math.abs(sigma * normal() - found.center) <= 1.2816 * found.spread) inside++;
      }
      expect(inside / trials).toBeGreaterThan(0.72);
      // many quiet days are believed: the band is narrower than the constant's
      if (sigma === 0.02)
        expect(
          daySpread(
            chunks,
            Array.from({ length: 12 }, (_, i) => ({ at: i * day, curve: slower(1 + 0.01 * (i % 3)) })),
          )?.spread,
        ).toBeLessThan(0.1);
    },
  );
});
