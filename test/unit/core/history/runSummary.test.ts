import { describe, expect, it } from "vitest";
import {
  parseHistoryLine,
  recordOfUnfinished,
  type HistoryRecord,
} from "../../../../src/core/history/historyRecord";
import { runSummaries } from "../../../../src/core/history/runSummary";
import { formatText } from "../../../../src/core/format";
import { sampleCurve } from "../../../support/sampleReports";

const record = (id: string, at: number, changes: Partial<HistoryRecord> = {}): HistoryRecord => ({
  version: 1,
  id,
  kind: "probe",
  at,
  tool: "llama-server",
  curve: sampleCurve,
  ...changes,
});

describe("the history as rows", () => {
  it("has the newest first, and no single requests", () => {
    const runs = runSummaries([
      record("a", 1),
      record("b", 3),
      record("c", 2),
      record("r", 4, { kind: "request" }),
    ]);
    expect(runs.map(({ id }) => id)).toEqual(["b", "c", "a"]);
    expect(runs[0]).toMatchObject({
      deepest: 73_728,
      first: 26.1 / 8192,
      last: 95.1 / 8192,
      generation: { depth: 32_768, tokensPerSecond: 14.8 },
      verdict: "unmonitored",
    });
  });

  it("says how a run ended, and who disturbed it", () => {
    const [cut, stopped] = runSummaries([
      record("stopped", 1, {
        ended: "cancelled",
        monitor: {
          verdict: "contaminated",
          samples: 9,
          events: [{ kind: "foreignGpu", share: 0.4, fromSeconds: 2, toSeconds: 5 }],
        },
      }),
      recordOfUnfinished(sampleCurve, { id: "cut", at: 2, tool: "llama-server" }),
    ]);
    expect(cut?.notes.map((note) => formatText(note))).toEqual([
      "It was cut off; what was measured so far is kept.",
    ]);
    expect(stopped?.notes.map((note) => formatText(note))).toEqual([
      "Stopped by the user; what was measured so far is kept.",
      "Other programs used 40 % of the GPU from 2.0 s to 5.0 s",
    ]);
  });
});

describe("a line of the history from elsewhere", () => {
  it("keeps what can be drawn of the watch, and the timing of a request", () => {
    const monitor = {
      verdict: "contaminated",
      samples: "many",
      events: [
        { kind: "swapping", bytes: 5, fromSeconds: 1, toSeconds: 2 },
        { kind: "swapping", fromSeconds: 1, toSeconds: 2 },
        { kind: "foreignCpu", who: [{ name: "x" }], share: 1, fromSeconds: 1, toSeconds: 2 },
        { kind: "meteor", fromSeconds: 1, toSeconds: 2 },
        null,
      ],
    };
    const request = { cached: 0, tokens: 900, seconds: 2, spans: [{ depth: 0, tokens: 0, seconds: 1 }] };
    const line = parseHistoryLine(JSON.stringify({ ...record("a", 1), monitor, request }));
    expect(line.kind === "record" && line.record.monitor).toEqual({
      verdict: "contaminated",
      samples: 0,
      events: [monitor.events[0]],
    });
    expect(line.kind === "record" && line.record.request).toEqual({ cached: 0, tokens: 900, seconds: 2 });
  });

  it.each([[{ verdict: "fine" }], ["clean"], [null]])("drops %j as a watch", (monitor) => {
    const line = parseHistoryLine(JSON.stringify({ ...record("a", 1), monitor }));
    expect(line.kind === "record" && line.record.monitor).toBeUndefined();
  });
});
