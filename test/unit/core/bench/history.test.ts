import { describe, expect, it } from "vitest";
import { historyAsCsv, historyAsMarkdown } from "../../../../src/core/bench/exportHistory";
import { parseHistoryLine } from "../../../../src/core/bench/historyRecord";
import type { HistoryRecord } from "../../../../src/core/bench/historyRecord";

const record: HistoryRecord = {
  version: 1,
  id: "a",
  kind: "probe",
  at: 1_790_000_000_000,
  tool: "llama-gauge 0.1.0",
  curve: {
    key: { model: 'a "b", c.gguf', build: "b1", flags: "-ctk q8_0" },
    points: [{ depth: 0, tokens: 512, seconds: 0.5 }],
    generation: [{ depth: 512, tokensPerSecond: 12.5 }],
  },
};

describe("a line of the history", () => {
  it("comes back as it was written", () => {
    expect(parseHistoryLine(JSON.stringify(record))).toEqual({ kind: "record", record });
  });

  it("keeps a run that was stopped before its first point", () => {
    const early = { ...record, curve: { ...record.curve, points: [], generation: [] } };
    expect(parseHistoryLine(JSON.stringify(early)).kind).toBe("record");
  });

  it.each([
    ["", "broken"],
    [JSON.stringify(record).slice(0, 80), "broken"],
    ["[]", "broken"],
    ['{"version":1,"id":"a"}', "broken"],
    [JSON.stringify({ ...record, curve: { points: "x" } }), "broken"],
    ['{"version":2,"id":"a","whatever":true}', "newer"],
  ])("%s is %s", (line, kind) => {
    expect(parseHistoryLine(line).kind).toBe(kind);
  });
});

describe("an export", () => {
  it("quotes CSV and has a row for every measurement", () => {
    const [header, first, second] = historyAsCsv([record]).split("\n");
    expect(header).toContain("depth,tokens,seconds,tokens per second");
    expect(first).toContain('"a ""b"", c.gguf"');
    expect(first).toMatch(/unmonitored,0,512,0\.5,1024\.00$/);
    expect(second).toMatch(/,512,,,12\.50$/);
  });

  it("cannot break a Markdown table", () => {
    const evil = {
      ...record,
      curve: { ...record.curve, key: { model: "a|b\nc", build: "", flags: "" }, points: [], generation: [] },
    };
    const lines = historyAsMarkdown([evil]).trimEnd().split("\n");
    expect(lines).toHaveLength(3);
    expect(lines[2]).toContain("a\\|b c");
  });
});
