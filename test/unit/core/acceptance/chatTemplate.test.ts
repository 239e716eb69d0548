import { describe, expect, it } from "vitest";
import {
  measureTemplate,
  renderPieces,
  renderPrompt,
  splitAtMarker,
  templateProbe,
} from "../../../../src/core/acceptance/chatTemplate";

const chatMl = (message: string): string => `<|im_start|>user\n${message}<|im_end|>\n<|im_start|>assistant\n`;

describe("measuring a chat template", () => {
  it("cuts the rendering into what stands before and after the message", () => {
    expect(measureTemplate(chatMl(templateProbe))).toEqual({
      kind: "measured",
      template: {
        prefix: "<|im_start|>user\n",
        suffix: "<|im_end|>\n<|im_start|>assistant\n",
        trims: false,
      },
    });
  });

  it("sees that a template trims the message", () => {
    const measured = measureTemplate(chatMl(templateProbe.trim()));
    if (measured.kind !== "measured") throw new Error(measured.problem);
    expect(measured.template.trims).toBe(true);
    expect(renderPrompt(measured.template, "\n  code \t\n")).toBe(chatMl("code"));
    // a byte order mark is white space to JavaScript only
    expect(renderPrompt(measured.template, "\uFEFFcode")).toBe(chatMl("\uFEFFcode"));
  });

  it("leaves a message's white space where the template does", () => {
    const measured = measureTemplate(chatMl(templateProbe));
    if (measured.kind !== "measured") throw new Error(measured.problem);
    expect(renderPrompt(measured.template, "  code\n")).toBe(chatMl("  code\n"));
  });

  it.each([
    [["\n  code", " and more ", "\t\n"]],
    [["", " \n", "\t", "  a", "b", "c  ", " ", ""]],
    [[" \n", "\uFEFF ", "\f"]],
    [[" ", "\n"]],
    [[]],
  ])("renders a message in pieces as it renders the whole: %j", (pieces) => {
    for (const trims of [true, false]) {
      const template = { prefix: "<p>", suffix: "<s>", trims };
      expect(renderPieces(template, pieces).join("")).toBe(renderPrompt(template, pieces.join("")));
    }
  });

  it.each([
    ["dropped", chatMl("")],
    ["repeated", chatMl(templateProbe) + chatMl(templateProbe)],
    ["repeated", chatMl(templateProbe.trim()) + chatMl(templateProbe.trim())],
  ])("cannot use a template that has the message %s", (problem, rendered) => {
    expect(measureTemplate(rendered)).toEqual({ kind: "unusable", problem });
  });
});

describe("splitAtMarker", () => {
  it.each([
    ["aXb", { kind: "split", prefix: "a", suffix: "b" }],
    ["X", { kind: "split", prefix: "", suffix: "" }],
    ["ab", { kind: "dropped" }],
    ["XX", { kind: "repeated" }],
  ])("%j", (rendered, expected) => {
    expect(splitAtMarker(rendered, "X")).toEqual(expected);
  });
});
