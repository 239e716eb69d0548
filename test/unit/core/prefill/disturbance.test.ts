import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { chooseCurve } from "../../../../src/core/history/curveChoice";
import { curveFileOf, namedCurve } from "../../../../src/core/history/namedCurve";
import type { HistoryRecord } from "../../../../src/core/history/historyRecord";
import { sessionSpreadOf } from "../../../../src/core/bench/probeCurve";
import type { MonitorReport } from "../../../../src/core/monitor/monitorSample";
import { fitCurve, secondsBetween } from "../../../../src/core/prefill/curveFit";
import type { DepthCurve } from "../../../../src/core/prefill/depthCurve";
import { predict } from "../../../../src/core/prefill/predict";

interface Run {
  readonly setup: string;
  readonly curve: DepthCurve;
  readonly monitor: MonitorReport;
}

const file = path.join(import.meta.dirname, "../../../fixtures/speed/contaminated.json");
const { runs } = JSON.parse(readFileSync(file, "utf8")) as { readonly runs: readonly Run[] };
const now = Date.UTC(2026, 11, 1, 12);

/** As the history gives it back a minute later. */
function remembered({ curve, monitor }: Run): DepthCurve {
  const about = { version: 1, kind: "probe", tool: "llama-server", at: now - 60_000 } as const;
  const record: HistoryRecord = { ...about, id: "run", curve, monitor };
  const { model, build, flags } = curve.key;
  const found = chooseCurve([record], { model, build, flags, now });
  if (found === undefined) throw new Error("not chosen");
  return found.curve;
}

describe("a curve that was measured while others used the machine", () => {
  it("holds what the same setup took in other disturbed runs about as often as it claims", () => {
    const pairs = runs.flatMap((run) =>
      runs
        .filter((other) => other !== run && other.setup === run.setup)
        .map((other) => [run, other] as const),
    );
    const inside = pairs.filter(([run, other]) => {
      const fit = fitCurve(other.curve);
      const until = Math.min(fit.end, fitCurve(run.curve).end);
      const took = secondsBetween(fit, 0, until);
      const its = predict(remembered(run), { tokens: until });
      return its.known && its.lowSeconds <= took && took <= its.highSeconds;
    });
    expect(pairs).toHaveLength(14);
    // 80 % of 14; by a quarter of the share it was 8
    expect(inside.length).toBeGreaterThanOrEqual(11);
    expect(inside.length).toBeLessThan(14);
  });

  it("is as wide from a file as from the history and from the probe itself", () => {
    for (const run of runs) {
      const { curve, monitor } = run;
      const document = JSON.stringify({ curve: { ...curve, measuredAt: new Date(now - 60_000) }, monitor });
      const named = namedCurve(curveFileOf("probe.json", document, now), curve.key, { any: false, now });
      expect(named.curve.known && named.curve.value.spread).toBeCloseTo(remembered(run).spread ?? 0, 6);
      expect(remembered(run).spread).toBeGreaterThanOrEqual(sessionSpreadOf(monitor, undefined));
    }
  });

  it("is wider for another llama.cpp program of which nobody says what it took, and not for a clean run", () => {
    const [run] = runs;
    if (run === undefined) throw new Error("no runs");
    const curve = { ...run.curve, spread: 0.01 };
    const other = { kind: "otherLlama", who: [], fromSeconds: 1, toSeconds: 9 } as const;
    const spread = (monitor: MonitorReport): number => remembered({ ...run, curve, monitor }).spread ?? 0;
    const watched = { samples: 20, events: [] };
    expect(spread({ ...watched, verdict: "clean" })).toBeLessThan(0.04);
    expect(spread({ ...watched, verdict: "contaminated", events: [other] })).toBeGreaterThan(0.1);
  });
});
