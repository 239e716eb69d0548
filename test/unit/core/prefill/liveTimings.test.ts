import { describe, expect, it } from "vitest";
import type { DepthCurve } from "../../../../src/core/prefill/depthCurve";
import { remainingPrefill } from "../../../../src/core/prefill/liveEta";
import { refineCurve, sessionSpread } from "../../../../src/core/prefill/liveTimings";
import { naiveSeconds } from "../../../../src/core/prefill/depthCurve";
import { predict } from "../../../../src/core/prefill/predict";
import { probedTo, readSpeedSeries } from "../../../support/speedSeries";

const series = readSpeedSeries();

function named(id: string): DepthCurve {
  const found = series.find((s) => s.id === id);
  if (found === undefined) throw new Error(id);
  return found.curve;
}

function secondsFor(curve: DepthCurve, tokens: number, cached = 0): number {
  const prediction = predict(curve, { tokens, cached });
  if (!prediction.known) throw new Error("unknown");
  return prediction.seconds;
}

describe("a curve refined by real requests", () => {
  const monday = named("seed-run1");
  const night = named("seed-run2");

  it("takes one chunk of today to correct yesterday's curve", () => {
    const [chunk] = night.points;
    if (chunk === undefined) throw new Error();
    const refined = refineCurve(monday, [{ cached: 0, tokens: chunk.tokens, seconds: chunk.seconds }]);
    expect(refined.factor).toBeCloseTo(1.11, 2);
    // The night's run took 1451 s for 131072 tokens; the unrefined curve is more than a tenth too low.
    expect(secondsFor(monday, 131072) / 1451).toBeLessThan(0.9);
    expect(Math.abs(secondsFor(refined.curve, 131072) / 1451 - 1)).toBeLessThan(0.05);
  });

  it("does not learn from a disturbed machine", () => {
    const refined = refineCurve(monday, [{ cached: 0, tokens: 8192, seconds: 90, disturbed: true }]);
    expect(refined).toEqual({ curve: monday, factor: 1, requests: 0 });
  });

  it("continues the curve with what a request showed behind the probed depth", () => {
    const probe = probedTo(monday, 32768);
    const whole = secondsFor(monday, 122880);
    const refined = refineCurve(probe, [{ cached: 0, tokens: 122880, seconds: whole * 1.3 }]);
    const deepest = Math.max(...refined.curve.points.map((p) => p.depth + p.tokens));
    expect(deepest).toBe(122880);
    expect(secondsFor(refined.curve, 122880) / (whole * 1.3)).toBeCloseTo(1, 1);
  });

  it("finds the overhead of requests in short ones", () => {
    const base: DepthCurve = {
      key: monday.key,
      points: [0, 4096, 8192].map((depth) => ({
        depth,
        tokens: 512,
        seconds: 512 * (1e-3 + 1e-7 * (depth + 256)),
      })),
      generation: [],
    };
    const asked = [40, 90, 300, 120].map((tokens) => ({
      cached: 8000,
      tokens,
      seconds: 0.49 + secondsFor(base, tokens, 8000),
    }));
    const deep = { cached: 0, tokens: 8192, seconds: 0.49 + secondsFor(base, 8192) };
    expect(refineCurve(base, [...asked, deep]).curve.overheadSeconds).toBeCloseTo(0.49, 2);
  });

  it("expects more spread from another day than from the same hour, and most from another build", () => {
    const recent = sessionSpread({ seconds: 600, sameBuild: true, undisturbed: true });
    const yesterday = sessionSpread({ seconds: 86_400, sameBuild: true, undisturbed: true });
    expect(recent).toBeLessThan(yesterday);
    expect(yesterday).toBeLessThan(sessionSpread({ seconds: 600, sameBuild: false, undisturbed: true }));
  });
});

describe("the rest of a running prefill", () => {
  /** Errors of the remaining time after this share of the prompt, over the published contiguous series. */
  function errors(share: number, how: "ours" | "percent"): number[] {
    return series
      .filter((s) => s.split === "dev" && s.contiguous)
      .flatMap(({ curve: { points } }) => {
        const last = points.at(-1);
        if (last === undefined) return [];
        const total = last.depth + last.tokens;
        let seconds = 0;
        const events = points.map((p) => ({
          processed: p.depth + p.tokens,
          seconds: (seconds += p.seconds),
        }));
        const progress = events.filter((e) => e.processed <= share * total);
        const now = progress.at(-1);
        if (now === undefined) return [];
        const left = seconds - now.seconds;
        if (how === "percent") {
          return [Math.abs((now.seconds * (total - now.processed)) / now.processed / left - 1)];
        }
        const eta = remainingPrefill({ total, cached: 0, progress });
        return eta.known ? [Math.abs(eta.seconds / left - 1)] : [];
      })
      .sort((p, q) => p - q);
  }
  const at = (sorted: readonly number[], q: number): number =>
    sorted[Math.ceil(q * (sorted.length - 1))] ?? NaN;

  it("is within 2 % (median) after a quarter and 1 % after half, where percent done is far off", () => {
    const quarter = errors(0.25, "ours");
    expect(quarter.length).toBeGreaterThan(15);
    expect(at(quarter, 0.5)).toBeLessThan(0.02);
    expect(at(errors(0.5, "ours"), 0.5)).toBeLessThan(0.01);
    expect(at(errors(0.25, "percent"), 0.5)).toBeGreaterThan(0.15);
  });

  it("uses a probe's slope before the prompt shows its own", () => {
    const probe = named("seed-run1");
    const [first] = named("seed-run2").points;
    if (first === undefined) throw new Error();
    const running = {
      total: 131072,
      cached: 0,
      progress: [
        { processed: 0, seconds: 0 },
        { processed: 8192, seconds: first.seconds },
      ],
    };
    const eta = remainingPrefill(running, probe);
    const left = 1451 - first.seconds;
    expect(eta.known && Math.abs(eta.seconds / left - 1)).toBeLessThan(0.05);
    expect(naiveSeconds(named("seed-run2"), 131072) / 1451).toBeLessThan(0.3);
  });

  it("knows nothing before the first batch without a curve", () => {
    expect(remainingPrefill({ total: 4096, cached: 0, progress: [{ processed: 0, seconds: 0 }] }).known).toBe(
      false,
    );
  });

  it("counts cached tokens as read", () => {
    const probe = named("seed-run1");
    const eta = remainingPrefill({ total: 65536, cached: 61440, progress: [] }, probe);
    expect(eta.known && eta.seconds).toBeCloseTo(secondsFor(probe, 4096, 61440), 3);
  });
});
