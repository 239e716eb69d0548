import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { ScriptLanguage } from "../../../src/core/scripts/scriptLanguages";
import { repository } from "../repository";
import {
  readHeaderBytes,
  readLogText,
  readPlanText,
  readPresetBytes,
  readScriptText,
  renderTemplate,
} from "./readers";

/**
 * Inputs that ended the process, blocked it or made something up, each at its time: they are tried first, and are the
 * beginning of others. Kinds are named as the targets are.
 */

const kept = (...names: string[]): Buffer[] => {
  const folder = path.join(repository, "test/fixtures/hostile", ...names);
  return readdirSync(folder).map((name) => readFileSync(path.join(folder, name)));
};

const many = 30_000;
const numbered = (make: (i: number) => string, count = many): string =>
  Array.from({ length: count }, (_, i) => make(i)).join("");

const merges = Array.from(
  { length: 40 },
  (_, i) => `a${i + 1}: &a${i + 1} {<<: [${`*a${i}, `.repeat(9)}*a${i}]}`,
);

export const harmful = {
  headerBytes: kept("headers"),
  log: [
    ...kept("logs").map(String),
    // Base64 with `OOm` in it was taken for a failure, after a time that grew with its square
    `0.01.002.003 D srv  update: ${"wKzOOm+/OOM/9xQ=".repeat(20_000)}\n`,
    `common_memory_breakdown_print: |   - Host${" ".repeat(20_000)}`,
  ],
  preset: [
    "[experts]\nmodel = oom.gguf\noverride-tensor = (a+)+$=CPU\n",
    "[constructor]\n__proto__ = 1\ntoString = 2\nhasOwnProperty = 3\n",
    `[*]\n${"c = 1\n".repeat(many)}`,
    // just below what the editor checks
    `[*]\n${numbered((i) => `k${i} = 1\n`, 15_000)}${numbered((i) => `[m${i}]\nm = a\n`, 15_000)}`,
  ],
  script: [
    [`llama-server${" a".repeat(162_500)}`, "shellscript"],
    [`llama-server ${numbered((i) => `--unknown-${i} `)}`, "shellscript"],
    [numbered((i) => `export LLAMA_ARG_X${i}=1\n`), "shellscript"],
    [`llama-server: ${"[".repeat(100_000)}`, "yaml"],
    ["- ".repeat(50_000), "yaml"],
    [`a0: &a0 {command: [llama-server, -c, '5']}\n${merges.join("\n")}\n`, "yaml"],
    ["constructor: {__proto__: {command: llama-server -c 5}, environment: {toString: 1}}\n", "yaml"],
  ] satisfies readonly (readonly [text: string, language: ScriptLanguage])[],
  plan: ["- ".repeat(50_000), "? ".repeat(50_000), "[".repeat(50_000)],
  template: [
    "{% for a in range(1000) %}{% for b in range(1000) %}x{% endfor %}{% endfor %}",
    `{{ ${"[".repeat(2000)} }}`,
    "{{ messages.constructor.constructor('return process')() }}{{ __proto__ }}",
  ],
} as const;

const readers: Readonly<Record<string, readonly (() => void | Promise<void>)[]>> = {
  headerBytes: harmful.headerBytes.map((bytes) => () => readHeaderBytes(new Uint8Array(bytes))),
  log: harmful.log.map((text) => () => readLogText(text)),
  preset: harmful.preset.map((text) => () => readPresetBytes(Buffer.from(text))),
  script: harmful.script.map(
    ([text, language]) =>
      () =>
        readScriptText(text, language),
  ),
  plan: harmful.plan.map((text) => () => readPlanText(text)),
  template: harmful.template.map((source) => () => renderTemplate(source)),
};

/** To be tried as they are. */
export const triedFirst = (target: string): readonly (() => void | Promise<void>)[] => readers[target] ?? [];
