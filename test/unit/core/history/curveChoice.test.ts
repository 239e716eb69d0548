import { describe, expect, it } from "vitest";
import { chooseCurve, curvesOfModel, curveWith } from "../../../../src/core/history/curveChoice";
import { formatText } from "../../../../src/core/format";
import type { HistoryRecord } from "../../../../src/core/history/historyRecord";

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
    expect(
      chooseCurve([probe("old", 50), probe("new", 1), probe("older", 90)], wanted)?.origin.measuredAt,
    ).toBe(now - hour);
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

  it("is not one that a clock dated into the future, unless there is no other", () => {
    const ahead = probe("ahead", -1000);
    expect(chooseCurve([ahead, probe("new", 1)], wanted)?.origin.measuredAt).toBe(now - hour);
    // nobody knows how old it is: as a run of another day
    expect(chooseCurve([ahead], wanted)?.curve.spread).toBeCloseTo(0.16, 6);
  });

  it("spreads more the next day than in the same hour", () => {
    const spread = (hours: number): number => chooseCurve([probe("p", hours)], wanted)?.curve.spread ?? 0;
    expect(spread(24)).toBeGreaterThan(spread(0.5));
  });

  it("knows a build by its number, however the program writes it", () => {
    const bench = probe("bench", 1, { build: "Debian (11669)" });
    expect(chooseCurve([bench], { ...wanted, build: "b11669-Debian" })?.origin.sameBuild).toBe(true);
    expect(chooseCurve([bench], { ...wanted, build: "" })?.origin.sameBuild).toBe(false);
  });

  it("passes over a baseline, a run without points, and a disturbed run soon after a clean one", () => {
    const long = (id: string, hoursAgo: number, verdict: "clean" | "contaminated"): HistoryRecord => {
      const record = probe(id, hoursAgo);
      const points = [0, 512, 1024].map((depth) => ({ depth, tokens: 512, seconds: 1 }));
      const monitor = { verdict, events: [], samples: 9 };
      return { ...record, monitor, ...(record.curve && { curve: { ...record.curve, points } }) };
    };
    const id = (records: readonly HistoryRecord[]): string | undefined =>
      chooseCurve(records, wanted)?.origin.id;
    expect(id([long("clean", 3, "clean"), long("disturbed", 1, "contaminated")])).toBe("clean");
    expect(id([long("clean", 30, "clean"), long("disturbed", 1, "contaminated")])).toBe("disturbed");
    expect(id([long("run", 3, "clean"), { ...long("base", 1, "clean"), kind: "baseline" }])).toBe("run");
    expect(id([long("run", 3, "clean"), probe("stopped at once", 1)])).toBe("run");
  });

  it("runs at the speed of the requests seen since, with their build's word for it", () => {
    const key = { model: "/m.gguf", build: "b11669", flags: "-ctk f16" };
    const measured: HistoryRecord = {
      ...probe("p", 48),
      curve: {
        key,
        points: [0, 2048, 4096].map((depth) => ({ depth, tokens: 2048, seconds: 2 + depth / 2048 })),
        generation: [],
      },
    };
    const seen = (at: number, changes: Partial<HistoryRecord> = {}): HistoryRecord => ({
      version: 1,
      id: `r${at}`,
      kind: "request",
      at,
      tool: "llama-server",
      key,
      // the curve says 9 s for these
      request: { cached: 0, tokens: 6144, seconds: 10.8 },
      ...changes,
    });
    const chosen = chooseCurve([measured, seen(now - hour)], wanted);
    expect(chosen?.origin).toMatchObject({ requests: 1, factor: expect.closeTo(1.2, 3) as number });
    // a request of the last hour says more about today than a probe of the day before yesterday
    const without = chooseCurve([measured], wanted)?.curve.spread ?? 0;
    expect(chosen?.curve.spread).toBeLessThan(without);
    const others = [
      seen(now - hour, { key: { ...key, flags: "-ctk q8_0" } }),
      seen(now - 72 * hour),
      seen(now - hour, { key: { ...key, build: "b12000" } }),
    ];
    expect(chooseCurve([measured, ...others], wanted)?.origin.requests).toBe(0);
  });
});

describe("the curves of one model", () => {
  it("are one for each set of flags; what was not measured has a reason, not another's figures", () => {
    const records = [
      probe("a", 1),
      probe("old", 9),
      probe("b", 2, { flags: "-ctk q8_0" }),
      probe("n", 1, { model: "/n" }),
    ];
    const curves = curvesOfModel(records, wanted);
    expect(curves.map(({ origin }) => origin.id)).toEqual(["a", "b"]);
    expect(curveWith(curves, "-ctk q8_0")).toMatchObject({ known: true });
    const missing = curveWith(curves, "-ctk q4_0");
    expect(!missing.known && formatText(missing.why)).toBe("No speed has been measured with -ctk q4_0.");
    // f16 and f16 are the defaults
    expect(curveWith(curves, "")).toMatchObject({ known: true });
    const defaults = curveWith([], "");
    expect(!defaults.known && formatText(defaults.why)).toContain("llama-server's defaults");
  });
});
