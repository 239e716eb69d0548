import { describe, expect, it } from "vitest";
import { longestRun } from "../../../../src/core/tokens/longRuns";

describe("runs that may crash llama.cpp's tokenizer", () => {
  it("are found with their line and length", () => {
    const text = `one\r\ntwo ${"a".repeat(50)}\n${"é日".repeat(40)}\n${" ".repeat(30)}`;
    expect(longestRun(text, 20)).toEqual({ line: 3, length: 80 });
    expect(longestRun(text, 81)).toBeUndefined();
  });

  it.each([
    ["letters with marks", "e\u0301".repeat(30), 60],
    ["symbols and punctuation", "=-*/".repeat(20), 80],
    ["line breaks count as white space", "\n\r\n\t ".repeat(20), 100],
    ["characters beyond the first plane count once", "\u{1F600}".repeat(40), 40],
  ])("%s", (_name, text, length) => {
    expect(longestRun(`x1${text}2`, 20)).toMatchObject({ length });
  });

  it.each([
    ["digits", "1234567890".repeat(20)],
    ["words", "word ".repeat(100)],
    ["code", "f(x);".repeat(100)],
  ])("are not %s", (_name, text) => {
    expect(longestRun(text, 20)).toBeUndefined();
  });
});
