import { describe, expect, it } from "vitest";
import { historyAsCsv, historyAsMarkdown } from "../../../../src/core/history/exportHistory";
import { parseHistoryLine } from "../../../../src/core/history/historyRecord";
import type { HistoryRecord } from "../../../../src/core/history/historyRecord";
import { say } from "../../../../src/core/text";

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
    [JSON.stringify({ ...record, at: 1e300 }), "broken"],
    [JSON.stringify({ ...record, kind: "whatever" }), "broken"],
    [JSON.stringify({ ...record, version: 0.5 }), "broken"],
  ])("%s is %s", (line, kind) => {
    expect(parseHistoryLine(line).kind).toBe(kind);
  });
});

const answer = { kind: "noDifference", withinPercent: 2, sentence: say`No difference.`, notes: [] } as const;
const comparison = {
  option: "cacheTypeK",
  values: ["f16", "q8_0"],
  depth: 4096,
  threshold: 0.01,
  prefill: answer,
  generation: { ...answer, sentence: say`Cannot be judged.` },
} as const;

describe("a record that somebody else wrote", () => {
  it("loses what cannot be shown, and only that", () => {
    const line = { ...record, comparison: { option: "x" }, drift: 7, steps: [{}], label: {}, seconds: "1" };
    expect(parseHistoryLine(JSON.stringify(line))).toEqual({
      kind: "record",
      record: { ...record, steps: [] },
    });
    const whole = { ...record, comparison, drift: { kind: "stable", change: 0.01 }, label: "l", seconds: 1 };
    expect(parseHistoryLine(JSON.stringify(whole))).toEqual({ kind: "record", record: whole });
  });
});

describe("an export", () => {
  it("tells what a request took and what a comparison found, and on what", () => {
    const { curve: _, ...bare } = record;
    const key = { model: "m.gguf", build: "b1", flags: "-fa on" };
    const request = { cached: 100, tokens: 1000, seconds: 2, disturbed: true };
    const [, read, compared] = historyAsCsv([
      { ...bare, kind: "request", key, request },
      { ...bare, kind: "comparison", key, comparison },
    ]).split("\r\n");
    expect(read).toContain("m.gguf,b1,'-fa on,,,contaminated,100,1000,2,500.00,");
    expect(compared).toContain(
      'm.gguf,b1,\'-fa on,,,unmonitored,4096,,,,"cacheTypeK f16 / q8_0, differences from 1.0 %. No difference. Cannot be judged."',
    );
  });

  it("quotes CSV and has a row for every measurement", () => {
    const [header, first, second] = historyAsCsv([record]).split("\r\n");
    expect(header).toContain("depth,tokens,seconds,tokens per second");
    expect(first).toContain('"a ""b"", c.gguf"');
    expect(first).toMatch(/unmonitored,0,512,0\.5,1024\.00,$/);
    expect(second).toMatch(/,512,,,12\.50,$/);
  });

  it("lets no name in a CSV be a formula", () => {
    const model = '=HYPERLINK("http://x.example","open")';
    const { curve: _, ...bare } = record;
    const [, first] = historyAsCsv([{ ...bare, key: { model, build: " @b1", flags: "-fa on" } }]).split(
      "\r\n",
    );
    expect(first).toContain(`,"'=HYPERLINK(""http://x.example"",""open"")",' @b1,'-fa on,`);
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
