import { describe, expect, it } from "vitest";
import { formatText } from "../../../src/core/format";
import { bytes, count, percent, say, seconds, tokensPerSecond } from "../../../src/core/text";
import { tableCsv, tableMarkdown, type PlainTable } from "../../../src/webview/saving/tableText";

const words = formatText;
const table = (rows: PlainTable["rows"], titles = ["Name", "Value"]): PlainTable => ({
  caption: "Some | figures",
  columns: titles.map((title, i) => ({ title, figures: i > 0 })),
  rows,
});

describe("a table as CSV", () => {
  it.each([
    [say`${count(19_440)}`, "Value", "19440"],
    [say`${bytes(3 * 2 ** 30)}`, "Value (B)", "3221225472"],
    [say`${seconds(77.25)}`, "Value (s)", "77.25"],
    [say`${percent(21.5)}`, "Value (%)", "21.5"],
    [say`${tokensPerSecond(15.7)}`, "Value (t/s)", "15.7"],
    // a sentence stays one
    [say`about ${count(3000)}`, "Value", '"about 3,000"'],
  ])("has bare figures and their unit in the heading: %j", (cell, heading, value) => {
    expect(tableCsv(table([["a", cell]]), words)).toBe(`\ufeffName,${heading}\r\na,${value}\r\n`);
  });

  it("quotes as RFC 4180 wants, and lets no name be a formula", () => {
    const names = ['a "b"', "c,d", "e\nf", "=1+1", "+x", "-y", "@z", "ok"];
    const lines = tableCsv(table(names.map((name) => [name, ""])), words);
    expect(lines).toBe(
      `\ufeffName,Value\r\n"a ""b""",\r\n"c,d",\r\n"e\nf",\r\n'=1+1,\r\n'+x,\r\n'-y,\r\n'@z,\r\nok,\r\n`,
    );
  });
});

describe("a table as Markdown", () => {
  it("has figures as on the page, aligned, and no name that changes the table", () => {
    expect(tableMarkdown(table([["a|b*c*", say`${count(19_440)}`]]), words)).toBe(
      "**Some \\| figures**\n\n| Name | Value |\n| :-- | --: |\n| a\\|b\\*c\\* | 19,440 |\n",
    );
  });
});
