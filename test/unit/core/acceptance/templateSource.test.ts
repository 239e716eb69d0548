import { describe, expect, it } from "vitest";
import { builtInTemplateNames } from "../../../../src/core/acceptance/builtInTemplates";
import {
  templateOfFile,
  templateSource,
  templateVariables,
} from "../../../../src/core/acceptance/templateSource";
import { parseArguments } from "../../../../src/core/launch/commandLine";
import type { LaunchOptions } from "../../../../src/core/launch/launchOptions";
import type { MetadataValue } from "../../../../src/core/model/ggufHeader";

const own = "{{ messages[0].content }}";
const header = (entries: Record<string, MetadataValue>) =>
  new Map(Object.entries(entries).map(([key, value]) => [`tokenizer.chat_template${key}`, value] as const));

describe("which template llama-server would use", () => {
  it.each([
    ["the header's", {}, { "": own }, { kind: "jinja", source: own, origin: { from: "model" } }],
    [
      "its one for tools where there is no other",
      {},
      { ".tool_use": own },
      { kind: "jinja", source: own, origin: { from: "model", name: "tool_use" } },
    ],
    ["ChatML where there is none", {}, {}, { kind: "jinja", origin: { from: "fallback" } }],
    ["ChatML where it is empty", {}, { "": "" }, { kind: "jinja", origin: { from: "fallback" } }],
    [
      "the option's before the header's",
      { chatTemplate: { kind: "text", text: "A" } },
      { "": own },
      { kind: "jinja", source: "A", origin: { from: "option" } },
    ],
    [
      "the header's where the option is empty",
      { chatTemplate: { kind: "text", text: "" } },
      { "": own },
      { kind: "jinja", source: own, origin: { from: "model" } },
    ],
    [
      "none for a built-in's name, which Jinja takes for a template",
      { chatTemplate: { kind: "text", text: "llama2" } },
      { "": own },
      { kind: "unusable" },
    ],
    [
      "the built-in without Jinja",
      { chatTemplate: { kind: "text", text: "llama2" }, jinja: false },
      { "": own },
      { kind: "known", template: { prefix: "[INST] ", suffix: " [/INST]", trims: false } },
    ],
    ["none without Jinja and a name", { jinja: false }, { "": own }, { kind: "unusable" }],
    ["none where it is not a text", {}, { "": [1, 2] }, { kind: "unusable" }],
  ] as const satisfies readonly (readonly [string, LaunchOptions, Record<string, MetadataValue>, object])[])(
    "%s",
    (_, launch, entries, expected) => {
      expect(templateSource(launch, header(entries))).toMatchObject(expected);
    },
  );

  it("is a file's text, and the header's where the file is empty", () => {
    const its = { from: "file", path: "/t.jinja" };
    expect(templateOfFile("A", "/t.jinja", {}, header({ "": own }))).toMatchObject({
      source: "A",
      origin: its,
    });
    expect(templateOfFile("", "/t.jinja", {}, header({ "": own }))).toMatchObject({ source: own });
  });

  it("knows every name of b11669's --help", () => {
    expect(builtInTemplateNames).toHaveLength(54);
  });
});

describe("what a command line gives a template", () => {
  // what b11669's template variables were with these arguments
  it.each([
    [[], {}],
    [["--reasoning", "off"], { enable_thinking: false }],
    [["--reasoning", "off", "--chat-template-kwargs", '{"enable_thinking":true}'], { enable_thinking: true }],
    [
      ["--chat-template-kwargs", '{"enable_thinking":true}', "--reasoning", "off"],
      { enable_thinking: false },
    ],
    [["--reasoning", "on", "--reasoning", "auto"], { enable_thinking: true }],
    [["--chat-template-kwargs", '{"x":1}', "--chat-template-kwargs", '{"y":2}'], { x: 1, y: 2 }],
    [
      ["--chat-template-kwargs", '{"reasoning_effort":"low"}', "--reasoning-effort", "high"],
      { reasoning_effort: "high" },
    ],
    [["--reasoning-effort", "high", "--reasoning-effort", "default"], {}],
    [["--reasoning-budget", "0"], {}],
  ])("%j", (args, variables) => {
    expect(templateVariables(parseArguments(args).options)).toEqual(variables);
  });

  it("takes whichever template came last", () => {
    const last = (...args: string[]) => parseArguments(args).options.chatTemplate;
    expect(last("--chat-template", "A", "--chat-template-file", "f")).toEqual({ kind: "file", path: "f" });
    expect(last("--chat-template-file", "f", "--chat-template", "A")).toEqual({ kind: "text", text: "A" });
  });
});
