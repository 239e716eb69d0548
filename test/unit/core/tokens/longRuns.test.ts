import { describe, expect, it } from "vitest";
import { longestRun, riskyRun } from "../../../../src/core/tokens/longRuns";

const longest = (text: string, atLeast?: number) => longestRun(new TextEncoder().encode(text), atLeast);

describe("runs that may crash llama.cpp's tokenizer", () => {
  it("are found with their line and length", () => {
    const text = `one\r\ntwo ${"a".repeat(50)}\n${"é日".repeat(40)}\n${" ".repeat(30)}`;
    expect(longest(text, 20)).toEqual({ line: 3, length: 80 });
    expect(longest(text, 81)).toBeUndefined();
  });

  // between 23 703 and 25 110 of each of these in a row crashed node-llama-cpp 3.21.1
  // and 24 000 of "7" with the families default, deepseek-llm, superbpe, bloom and viking
  it.each(["a", "A", " ", ".", "日"])("are warned of before the lengths that did crash: %j", (character) => {
    expect(riskyRun).toBeLessThan(23_703);
    expect(longest(`x\n1${character.repeat(23_703)}2y`)).toEqual({ line: 2, length: 23_703 });
    expect(longest(`x\n1${character.repeat(riskyRun - 1)}2y`)).toBeUndefined();
    expect(longest(`x\n.${"7".repeat(24_000)}.y`)).toEqual({ line: 2, length: 24_000 });
  });

  it.each([
    ["letters with marks", "e\u0301".repeat(30), 60],
    ["symbols and punctuation", "=-*/".repeat(20), 80],
    ["line breaks count as white space", "\n\r\n\t ".repeat(20), 100],
    ["characters beyond the first plane count once", "\u{1F600}".repeat(40), 40],
  ])("%s", (_name, text, length) => {
    expect(longest(`x1${text}2`, 20)).toMatchObject({ length });
  });

  it("are found wherever they begin and end", () => {
    for (let before = 0; before < 45; before++) {
      for (const length of [19, 20, 21, 39, 40, 41]) {
        const text = `${"a1".repeat(before)}${"é".repeat(length)}1`.slice(before);
        expect(longest(text, 20)?.length).toBe(length < 20 ? undefined : length);
      }
    }
  });

  it.each([
    ["digits with letters between them", "1f2e".repeat(100)],
    ["words", "word ".repeat(100)],
    ["code", "f(x);".repeat(100)],
  ])("are not %s", (_name, text) => {
    expect(longest(text, 20)).toBeUndefined();
  });
});
