import { describe, expect, it } from "vitest";
import { formatText } from "../../../../src/core/format";
import type { Finding } from "../../../../src/core/preset/finding";
import { lintBytes } from "../../../../src/core/preset/lintBytes";
import { lint, type LintContext } from "../../../../src/core/preset/lintPreset";
import { splitLines } from "../../../../src/core/preset/presetDocument";
import { say } from "../../../../src/core/text";
import { growth, milliseconds } from "../../../support/growth";
import { slowness } from "../../../support/slowness";

const model = "m = x.gguf";
const brief = (findings: readonly Finding[]): string[] =>
  findings.map(
    ({ severity, code, line, column, endColumn }) => `${line}:${column}-${endColumn} ${severity} ${code}`,
  );
const check = (lines: readonly string[], context?: LintContext): string[] =>
  brief(lint(lines.join("\n"), context));

/** The text after a finding's fix. */
function fixed(text: string, { fix }: Finding): string {
  if (fix === undefined) throw new Error("no fix");
  const lines = splitLines(text);
  const offset = (line: number, column: number): number =>
    lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
  return (
    text.slice(0, offset(fix.line, fix.column)) + fix.newText + text.slice(offset(fix.endLine, fix.endColumn))
  );
}

describe("findings in a preset", () => {
  it("is content with an ordinary file", () => {
    expect(
      check(["version = 1", "; mine", "[*]", "jinja = on", "[a]", model, "c = 8192", "[b]", "hf = o/r"]),
    ).toEqual([]);
  });

  it.each([
    [["[a]", model, "ctx-szie = 1"], "3:1-9 error unknownKey"],
    [["[a]", model, "n_gpu_layers = 1"], "3:1-13 error unknownKey"],
    [["[a]", model, "no-mmap = on"], "3:1-8 error renamedKey"],
    [["[a]", model, "draft-max = 3"], "3:1-10 error removedOption"],
    [["[a]", model, "ctk = q6_K"], "3:7-11 error badValue"],
    [["[a]", model, "c ="], "3:1-2 error badValue"],
    [["[a]", model, "c = 256k"], "3:5-9 warning trailingText"],
    [["[a]", model, "fa = off", "ctv = q8_0"], "4:7-11 error quantisedVNeedsFlashAttn"],
    [["[a]", model, "b = 128", "ub = 512"], "4:6-9 warning ubatchAboveBatch"],
    [["[a]", model, "np = 4", "c = 8192"], "3:6-7 information slotsSplitContext"],
    [["[a]", model, "no-kvu = on"], "3:10-12 warning unifiedForced"],
    [["[a]", model, "ngl = 20", "c = 4096"], "3:7-9 information fitSwitchedOff"],
    [["[a]", model, "c = 1", "c = 256"], "3:1-2 warning duplicateKey"],
    [["[a]", model, "ctx-size = 256", "c = 512"], "4:1-2 warning duplicateKey"],
    [["[a]", model, "[a]", model], "1:2-3 warning duplicateSection"],
    [["[a]", model, "host = 0.0.0.0"], "3:1-5 warning routerOwned"],
    [["[a]", model, "models-max = 2"], "3:1-11 warning routerOwned"],
    [["[a]", model, "hf-token = abc"], "3:12-15 warning secretInFile"],
    [["[a]", model, "kv-offload = maybe"], "3:14-19 warning oddSwitch"],
    [["[a]", model, "cpu-moe = off"], "3:1-8 information droppedSwitch"],
    [["[a]", model, "LLAMA_ARG_NO_REPACK = 1"], "3:1-20 warning negativeVariable"],
    [["[a]", "c = 256"], "1:2-3 warning noModel"],
    [["c = 256", "[a]", model], "1:1-2 warning keysBeforeSection"],
    [["[a]", `${model}\u00a0`], "2:11-12 warning invisibleCharacter"],
    [["[a ]", model], "1:2-4 warning blankInName"],
    [["[a]", `  ${model}`], "2:1-3 error indented"],
    [["[a", model], "1:1-3 error unclosedHeader"],
    [["[a]", model, "c"], "3:1-2 error noEquals"],
    [["[a]", model, "--c = 256"], "3:1-10 error badKey"],
    [["[a]", model, "alias = z", "[b]", model, "alias = z"], "6:9-10 error aliasConflict"],
    [["\ufeff[a]", model], "1:1-2 error byteOrderMark"],
  ])("in %j: %s", (lines, expected) => {
    expect(check(lines)).toEqual([expected]);
  });

  it("points at the line in [*] that a model inherits, once", () => {
    expect(check(["[*]", "ctv = q8_0", "fa = off", "[a]", model, "[b]", model])).toContain(
      "2:7-11 error quantisedVNeedsFlashAttn",
    );
    expect(
      check(["[*]", "ctv = q8_0", "fa = off", "[a]", model, "[b]", model]).filter((each) =>
        /error/.test(each),
      ),
    ).toHaveLength(1);
  });

  it("does not mind bad values that no model is started with", () => {
    expect(check(["[*]", "c = x", "[a]", model, "ctx-size = 256"])).toEqual(["2:5-6 warning badValue"]);
  });

  it("asks the outside about files, headers and memory", () => {
    const context: LintContext = {
      fileExists: (path) => path !== "gone.gguf",
      modelFacts: () => ({ trained: { contextLength: 4096, rope: {} }, headDimK: 80, headDimV: 128 }),
      memory: ({ name }) => (name === "big" ? say`Too big.` : undefined),
    };
    expect(check(["[a]", "m = gone.gguf"], context)).toEqual(["2:5-14 warning fileMissing"]);
    expect(check(["[a]", model, "c = 8192"], context)).toEqual(["3:5-9 warning contextAboveTraining"]);
    expect(check(["[a]", model, "ctk = q8_0", "ctv = q8_0"], context)).toEqual([
      "3:7-11 error quantisedHeadDimension",
    ]);
    expect(check(["[big]", model], context)).toEqual(["1:2-5 warning exceedsMemory"]);
  });

  it("warns of a template's name where llama-server takes it for the template", () => {
    // b11669 with --chat-template llama2 answers /apply-template with the prompt "llama2"; chatml is understood
    const found = (...keys: string[]): readonly string[] => check(["[a]", model, ...keys]);
    expect(found("chat-template = llama2")).toEqual(["3:17-23 warning templateIsItsName"]);
    expect(found("chat-template = chatml")).toEqual([]);
    expect(found("chat-template = {{ messages[0].content }}")).toEqual([]);
    expect(found("chat-template = llama2", "jinja = off")).toEqual([]);
  });

  // b11669's router starts these with --samplers top_k and --model /nowhere/a
  it("reports a value that a comment cuts, and not a comment that stands apart", () => {
    const found = (...keys: string[]): readonly string[] => check(["[a]", model, ...keys]);
    expect(found("samplers = top_k;top_p;temperature")).toEqual(["3:12-17 warning valueCut"]);
    expect(found("mmproj = /nowhere/a#b.gguf")).toEqual(["3:10-20 warning valueCut"]);
    expect(found("temp = 1.0 ; warm", "top-k = 64 # few", "alias = b ;c")).toEqual([]);
    const fixOf = (line: string): string | undefined =>
      lint(`[a]\n${model}\n${line}`).find(({ code }) => code === "valueCut")?.fix?.newText;
    expect(fixOf("samplers = top_k;top_p;temperature")).toBe("sampler-seq = kpt");
    expect(fixOf("samplers = penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature")).toBe(
      "sampler-seq = edskypmxt",
    );
    expect(fixOf("samplers = top_k;magic")).toBeUndefined();
  });

  // b11669 serves with each of them and drafts nothing; with draft-mtp and a model without MTP layers it stops
  it.each(["draft-simple", "draft-eagle3", "draft-dflash", "draft-dspark"])(
    "warns of %s without a draft model",
    (type) => {
      expect(check(["[a]", model, `spec-type = ${type}`])).toEqual([
        `3:13-${String(13 + type.length)} warning draftModelMissing`,
      ]);
      expect(check(["[a]", model, `spec-type = ${type}`, "spec-draft-model = d.gguf"])).toEqual([]);
      expect(check(["[a]", model, "spec-type = draft-mtp"])).toEqual([]);
    },
  );

  it.each([
    ["n-ctx = 4096", "ctx-size"],
    ["num_ctx = 4096", "ctx-size"],
    ["filename = m.gguf", "model"],
    ["gpulayers = 9", "n-gpu-layers"],
    ["max_tokens = 9", "n-predict"],
  ])("knows what other programs call an option: %s", (line, meant) => {
    const [finding] = lint(`[a]\n${model}\n${line}`);
    expect(finding).toMatchObject({ code: "unknownKey", fix: { newText: meant } });
  });

  it("says nothing of the CUDA kernels of a type it does not know", () => {
    const lines = ["[a]", model, "ctk = q8_0", "ctv = turbo4"];
    expect(check(lines)).toEqual(["4:7-13 error badValue"]);
    const typed = [...lines.slice(0, 3), "ctv = q4_0"];
    expect(check(typed)).toEqual(["4:7-11 information kvTypesNotOnCuda"]);
  });

  it("says whether RoPE scaling would help with a context above the training length", () => {
    const context: LintContext = { modelFacts: () => ({ trained: { contextLength: 4096, rope: {} } }) };
    const sentence = (...more: string[]): string =>
      lint(["[a]", model, "c = 8192", ...more].join("\n"), context)
        .map(({ message }) => formatText(message))
        .join();
    expect(sentence()).toContain("extrapolation");
    expect(sentence("rope-scaling = linear", "rope-scale = 2")).toContain("only YaRN");
    // as the real server: a slot of 6,144, and of 8,192
    expect(sentence("rope-scaling = yarn", "rope-scale = 1.5")).toContain("6,144");
    expect(sentence("rope-scaling = yarn", "rope-scale = 2")).toBe("");
    expect(check(["[a]", model, "c = 8192", "override-kv = llama.context_length=int:8192"], context)).toEqual(
      [],
    );
    expect(check(["[a]", model, "c = 8192", "np = 2"], context)).toEqual([
      "4:6-7 information slotsSplitContext",
    ]);
  });

  it.each([
    ["[a]\nm = x\nctx-szie = 256", "[a]\nm = x\nctx-size = 256"],
    ["[a]\nm = x\nno-mmap = on", "[a]\nm = x\nload-mode = none"],
    ["[a]\nm = x\ndraft-max = 3", "[a]\nm = x\nspec-draft-n-max = 3"],
    ["[a]\nm = x\n--fa = on", "[a]\nm = x\nfa = on"],
    ["[a]\n  m = x", "[a]\nm = x"],
    ["[a\nm = x", "[a]\nm = x"],
    ["[a]\nm = x\nkvu", "[a]\nm = x\nkvu = on"],
    ["\ufeff[a]\nm = x", "[a]\nm = x"],
    ["[a]\nm = x\nfa = off\nctv = q8_0", "[a]\nm = x\nfa = on\nctv = q8_0"],
    ["[a]\nm = x\nc = 256\nc = 512\n", "[a]\nm = x\nc = 512\n"],
    ["[a]\nm = x\nub = 4096\n", "[a]\nm = x\nub = 4096\nbatch-size = 4096\n"],
  ])("fixes %j", (before, after) => {
    const [finding] = lint(before).filter(({ fix }) => fix !== undefined);
    expect(finding && fixed(before, finding)).toBe(after);
  });

  it("finds invalid UTF-8 in the bytes of a file", () => {
    const bytes = Uint8Array.from([
      ...new TextEncoder().encode("[a]\r\nm = "),
      0xff,
      ...new TextEncoder().encode(".gguf\n"),
    ]);
    expect(brief(lintBytes(bytes))).toEqual(["2:1-2 error invalidUtf8"]);
    expect(brief(lintBytes(new TextEncoder().encode("\ufeff[a]\nm = \ufffd\n")))).toEqual([
      "1:1-2 error byteOrderMark",
    ]);
  });

  it("reads 2000 lines within ten milliseconds, once warm", () => {
    const text = Array.from(
      { length: 500 },
      (_, i) => `[m${i}]\nm = x.gguf\nctx-size = 4096\nctk = q8_0\n`,
    ).join("");
    const times = Array.from({ length: 40 }, () => milliseconds(() => void lint(text)));
    expect(Math.min(...times)).toBeLessThan(10 * slowness());
  });

  const lines = (count: number, line: (i: number) => string): string =>
    Array.from({ length: count }, (_, i) => line(i)).join("\n");
  it.each([
    ["sections", 20_000, (n: number) => lines(n, (i) => `[m${i}]`)],
    ["open headers", 40_000, (n: number) => "[a\n".repeat(n)],
    ["words in a line", 500_000, (n: number) => `[a]\nzqx = ${"x ".repeat(n)}`],
    ["letters in a key", 1_000_000, (n: number) => `[a]\n${"k".repeat(n)}`],
    ["unknown keys", 3_000, (n: number) => `[a]\n${lines(n, (i) => `unknwon${i} = 1`)}`],
    [
      "models under many defaults",
      10_000,
      (n: number) => `[*]\n${"c = 1\n".repeat(n)}${lines(n, (i) => `[m${i}]\nm = a`)}`,
    ],
    ["equal keys", 10_000, (n: number) => `[a]\n${"c = 1\n".repeat(n)}`],
  ])("survives many %s", (_, size, textOf) => {
    const times = growth(textOf, (text) => expect(lint(text).length).toBeGreaterThan(0), size);
    expect(times).toBeLessThan(4);
  });
});
