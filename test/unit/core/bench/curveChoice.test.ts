import { describe, expect, it } from "vitest";
import { chooseCurve } from "../../../../src/core/bench/curveChoice";
import type { HistoryRecord } from "../../../../src/core/bench/historyRecord";

const now = Date.UTC(2026, 10, 29);
const hour = 3_600_000;

function probe(
  id: string,
  hoursAgo: number,
  key: Partial<{ build: string; flags: string; model: string }> = {},
): HistoryRecord {
  return {
    version: 1,
    id,
    kind: "probe",
    at: now - hoursAgo * hour,
    tool: id,
    curve: {
      key: { model: "/m.gguf", build: "b11669", flags: "-ctk f16", ...key },
      points: [{ depth: 0, tokens: 512, seconds: 1 }],
      generation: [],
    },
  };
}

const wanted = { model: "/m.gguf", build: "b11669", flags: "-ctk f16", now };

describe("the curve for an estimate", () => {
  it("is the newest one, in whatever order they were written", () => {
    expect(chooseCurve([probe("old", 50), probe("new", 1), probe("older", 90)], wanted)?.origin.measuredAt).toBe(
      now - hour,
    );
  });

  it("is never one with other flags or of another model", () => {
    expect(
      chooseCurve([probe("a", 1, { flags: "-ctk q8_0" }), probe("b", 1, { model: "/n.gguf" })], wanted),
    ).toBeUndefined();
  });

  it("is of the same build where there is one; another build's has a band of 0.16 at least", () => {
    const other = probe("other", 1, { build: "b11000" });
    expect(chooseCurve([other, probe("same", 2)], wanted)?.origin.measuredAt).toBe(now - 2 * hour);
    // the same 128K prompt on three occasions: log-sd 0.16 (seed series)
    expect(chooseCurve([other], wanted)?.curve.spread).toBeGreaterThanOrEqual(0.16);
  });

  it("spreads more the next day than in the same hour", () => {
    const spread = (hours: number): number => chooseCurve([probe("p", hours)], wanted)?.curve.spread ?? 0;
    expect(spread(24)).toBeGreaterThan(spread(0.5));
  });
});
