import { describe, expect, it } from "vitest";
import { notebookText } from "../../../../src/core/files/notebookText";

const notebook = (cells: readonly object[]): string => JSON.stringify({ nbformat: 4, metadata: {}, cells });

describe("notebookText", () => {
  it("joins the sources of all cells and leaves outputs out", () => {
    const text = notebookText(
      notebook([
        { cell_type: "markdown", source: ["# Title\n", "\n", "Text"] },
        { cell_type: "code", source: "print(1)", outputs: [{ output_type: "stream", text: ["1\n"] }] },
        { cell_type: "raw", source: [] },
      ]),
    );
    expect(text).toBe("# Title\n\nText\n\nprint(1)\n\n");
  });

  it("knows the sheets of format 3", () => {
    const old = {
      nbformat: 3,
      worksheets: [{ cells: [{ cell_type: "code", input: ["a = 1"], outputs: [] }] }],
    };
    expect(notebookText(JSON.stringify(old))).toBe("a = 1");
  });

  it.each(["", "not json", "[]", "null", "{}", '{"cells": 3}'])("is undefined for %j", (text) => {
    expect(notebookText(text)).toBeUndefined();
  });

  it("survives cells that are none", () => {
    expect(notebookText('{"cells": [null, 3, {"source": 7}, {"source": ["a", 1, "b"]}]}')).toBe(
      "\n\n\n\n\n\nab",
    );
  });
});
