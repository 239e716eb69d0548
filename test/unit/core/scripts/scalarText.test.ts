import { describe, expect, it } from "vitest";
import { isScalar, parseDocument } from "yaml";
import { scalarText, type ScalarStyle } from "../../../../src/core/scripts/scalarText";

/** For every character of a value that is not blank: what stands for it in the source. */
function placed(source: string, style: ScalarStyle, from = 0): readonly [string, string][] {
  const { contents } = parseDocument(source);
  const value = isScalar(contents) ? String(contents.value) : "";
  const mapped = scalarText(value, source.slice(from), from, style);
  expect(mapped.text).toBe(value);
  return Array.from(value, (char, index): [string, string] => {
    const { start, end } = mapped.place(index, index + 1);
    return [char, source.slice(start, end)];
  }).filter(([char]) => !/\s/.test(char));
}

// escapes and folding as YAML 1.2.2 has them, 5.7 and 7.3
describe("the places of a scalar's characters", () => {
  it("are those of escapes in double quotes", () => {
    const source = '"a\\"b\\\\c\\x41\\u3042\\U00000042\\td \\\n   e\\/"';
    expect(placed(source, "double")).toEqual([
      ["a", "a"],
      ['"', '\\"'],
      ["b", "b"],
      ["\\", "\\\\"],
      ["c", "c"],
      ["A", "\\x41"],
      ["あ", "\\u3042"],
      ["B", "\\U00000042"],
      ["d", "d"],
      ["e", "e"],
      ["/", "\\/"],
    ]);
  });

  it.each<[string, ScalarStyle, number]>([
    ["a  b\n   c\n\n d", "verbatim", 0],
    ["'a''b\n   c\n\n d'''", "single", 0],
    ['"a \\n \n   \\t b\\\n  \\ c\r\n\r\n d\\u0020e"', "double", 0],
    [">-\n  a\n   b\n\n\n  c\r\n  d\n", "verbatim", 3],
    ["|2+ # note\n   a\n  b\n\n", "verbatim", 11],
  ])("are those of the same characters in %j", (source, style, from) => {
    const pairs = placed(source, style, from);
    expect(pairs.length).toBeGreaterThan(1);
    for (const [char, written] of pairs) expect(written).toBe(char === "'" ? "''" : char);
  });

  it("are between its quotes if there are none", () => {
    expect(scalarText("", '""', 7, "double").place(0, 0)).toEqual({ start: 8, end: 8 });
  });

  it("are those of an astral character's escape", () => {
    const source = '"\\U0001F600x"';
    const mapped = scalarText("😀x", source, 0, "double");
    expect(mapped.place(0, 2)).toEqual({ start: 1, end: 11 });
    expect(mapped.place(2, 3)).toEqual({ start: 11, end: 12 });
  });

  it("are the same however a value is written", () => {
    const words = ["--ctx-size", "4096", '{"a": 1}', "it's", "a\\b", "日本", "-m"];
    for (let length = 1; length <= words.length; length++) {
      const value = words.slice(0, length).join(" ");
      const sources = [JSON.stringify(value), `'${value.replaceAll("'", "''").replaceAll(" ", "\n  ")}'`];
      for (const [index, source] of sources.entries()) {
        const style = index === 0 ? "double" : "single";
        const mapped = scalarText(value, source, 0, style);
        const at = value.lastIndexOf(words[length - 1] ?? "");
        const { start, end } = mapped.place(at, value.length);
        const last = words[length - 1] ?? "";
        const written =
          style === "double"
            ? JSON.stringify(last).slice(1, -1)
            : last.replaceAll("'", "''").replaceAll(" ", "\n  ");
        expect(source.slice(start, end)).toBe(written);
      }
    }
  });
});
