import { describe, expect, it } from "vitest";
import { completionsAt } from "../../../../src/core/preset/presetCompletion";
import {
  foldingOf,
  formatEdits,
  looksLikePreset,
  renameSection,
  type LineEdit,
} from "../../../../src/core/preset/presetEdits";
import { readPreset } from "../../../../src/core/preset/presetModels";

function apply(text: string, edits: readonly LineEdit[]): string {
  const lines = text.split("\n");
  for (const { line, start, end, newText } of edits) {
    const old = lines[line] ?? "";
    lines[line] = old.slice(0, start) + newText + old.slice(end);
  }
  return lines.join("\n");
}

const format = (text: string): string => apply(text, formatEdits(readPreset(text)));

describe("formatting a preset", () => {
  it("keeps comments, order and empty lines", () => {
    const text = "; top   \n\n\n[ a]   ;one\nm   =  x y.gguf   # two \n\tc=5\nfa =\n[b\nnonsense here\n";
    expect(format(text)).toBe("; top\n\n\n[a] ;one\nm = x y.gguf # two\nc = 5\nfa =\n[b\nnonsense here\n");
  });

  it("changes nothing the second time, and nothing llama.cpp reads", () => {
    const text = "[*]\nc=5;x\n[a]\nm  =a\\b=c.gguf\n\n[c]   \nhf=o/r:Q4\n";
    const once = format(text);
    expect(format(once)).toBe(once);
    expect(readPreset(once).models.map(({ name, options }) => [name, options])).toEqual(
      readPreset(text).models.map(({ name, options }) => [name, options]),
    );
  });
});

// ids the router gives these: "a b ", "a#b", "a\n b  = c\n", "a\u00a0"
describe("formatting keeps a model's name", () => {
  it.each(["[a b ]\n", "[a#b]\nc = 5\n", "[a;b] ; note\n", "[a\n b  = c\n ]\nc = 5\n", "[a\u00a0]\n"])(
    "%j",
    (text) => {
      expect(format(text)).toBe(text);
    },
  );
});

describe("other edits of a preset", () => {
  it("renames every header of a name", () => {
    const text = "[a]\nm = x\n[b]\n[a] ; again\n";
    const preset = readPreset(text);
    expect(apply(text, renameSection(preset, "a", "new name") ?? [])).toBe(
      "[new name]\nm = x\n[b]\n[new name] ; again\n",
    );
    for (const bad of ["", " x", "a]b", "a\nb"]) expect(renameSection(preset, "a", bad)).toBeUndefined();
  });

  it("folds sections without the comment above the next one", () => {
    const preset = readPreset("c = 1\n[a]\nm = x\n\n; about b\n[b]\n[c]\nm = y");
    expect(foldingOf(preset)).toEqual([
      { start: 1, end: 2 },
      { start: 6, end: 7 },
    ]);
  });

  it("knows a preset by its keys", () => {
    expect(looksLikePreset("[a]\nm = x\nctx-size = 4096\n")).toBe(true);
    expect(looksLikePreset("[*]\nngl = 99\n")).toBe(true);
    expect(looksLikePreset("[user]\nname = x\nemail = y\n")).toBe(false);
    expect(looksLikePreset("[core]\n\tmodel = x\n")).toBe(false);
    expect(looksLikePreset("ctx-size = 4\nnp = 2\n")).toBe(false);
  });
});

describe("completion in a preset", () => {
  const labels = (text: string, line: number, character: number): string[] =>
    completionsAt(readPreset(text), line, character, { files: () => ["a.gguf"] }).map(({ label }) => label);

  it("offers long names, and the form that was begun", () => {
    expect(labels("[a]\n", 1, 0)).toContain("ctx-size");
    expect(labels("[a]\nng", 1, 2)).toContain("n-gpu-layers");
    expect(labels("[a]\nngl", 1, 3)).toContain("ngl");
    expect(labels("[a]\nno-", 1, 3)).toContain("no-kv-offload");
    expect(labels("[a]\nLLAMA", 1, 5)).toContain("LLAMA_ARG_CTX_SIZE");
    expect(labels("[a]\n", 1, 0)).not.toContain("models-max");
    expect(labels("[a]\nc = 5\n", 2, 0)).not.toContain("ctx-size");
  });

  it("offers values that fit", () => {
    expect(labels("[a]\nfa = ", 1, 5)).toEqual(["on", "off", "auto"]);
    expect(labels("[a]\nspec-type = ", 1, 12)).toContain("draft-mtp");
    expect(labels("[a]\njinja = ", 1, 8)).toEqual(["on", "off"]);
    expect(labels("[a]\nm = ", 1, 4)).toEqual(["a.gguf"]);
    expect(labels("[a]\nm = x ; ", 1, 8)).toEqual([]);
  });
});
