import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type {
  CodeAction,
  CodeLens,
  CompletionItem,
  DocumentSymbol,
  FoldingRange,
  Hover,
  InlayHint,
  Range,
  TextEdit,
  WorkspaceEdit,
} from "vscode-languageserver/node";
import { lint } from "../../src/core/preset/lintPreset";
import { requests } from "../../src/core/protocol/serverRequests";
import { bytes, say } from "../../src/core/text";
import { removeBuiltServer, trusted, withEditor } from "../support/languageEditor";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "language-server-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await removeBuiltServer();
});

const text = `; my models
[*]
ngl = 99

[coder]
m = coder.gguf
ctx-szie = 32768
  fa = on
ctv   =q8_0
; the end
[chat]
hf = owner/chat
`;
const uri = "untitled:Untitled-1";

/** An edit as an editor would apply it. */
function apply(before: string, edits: readonly TextEdit[]): string {
  const lines = before.split("\n");
  const offset = ({ line, character }: Range["start"]): number =>
    lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0) + character;
  return [...edits]
    .sort((a, b) => offset(b.range.start) - offset(a.range.start))
    .reduce(
      (now, { range, newText }) => now.slice(0, offset(range.start)) + newText + now.slice(offset(range.end)),
      before,
    );
}

describe("the language server", () => {
  it("reports the findings of lint, also while typing", () =>
    withEditor(async (editor) => {
      const first = editor.diagnostics(uri);
      await editor.show(uri, text);
      const found = await first;
      expect(found.map(({ code, range }) => [code, range.start.line + 1, range.start.character + 1])).toEqual(
        lint(text).map(({ code, line, column }) => [code, line, column]),
      );
      expect(found.map(({ code }) => code)).toEqual([
        "fitSwitchedOff",
        "unknownKey",
        "indented",
        "kvTypesNotOnCuda",
      ]);

      await editor.type(uri, { start: { line: 6, character: 4 }, end: { line: 6, character: 8 } }, "size");
      // news of the machine publish the former text's findings once more
      await expect.poll(() => editor.latest(uri)?.map(({ code }) => code)).not.toContain("unknownKey");
    }));

  it("offers fixes that remove their finding", () =>
    withEditor(async (editor) => {
      const first = editor.diagnostics(uri);
      await editor.show(uri, text);
      const diagnostics = await first;
      const range = { start: { line: 0, character: 0 }, end: { line: 12, character: 0 } };
      const actions = await editor.ask<CodeAction[]>("codeAction", uri, undefined, undefined, {
        range,
        context: { diagnostics },
      });
      const titles = actions.map(({ title }) => title);
      expect(titles).toEqual(["Change to ctx-size", "Remove the leading spaces"]);
      const fixed = apply(
        text,
        actions.flatMap(({ edit }) => edit?.changes?.[uri] ?? []),
      );
      expect(lint(fixed).filter(({ severity }) => severity === "error")).toEqual([]);
    }));

  it("completes keys with help, and values", () =>
    withEditor(async (editor) => {
      await editor.show(uri, "[a]\nm = x.gguf\ncache-t\nctk = \n");
      const keys = await editor.ask<CompletionItem[]>("completion", uri, 2, 7);
      const key = keys.find(({ label }) => label === "cache-type-k");
      // the option is already set in this section, by its short name
      expect(key).toBeUndefined();
      const other = keys.find(({ label }) => label === "cache-type-v");
      expect(other?.documentation).toContain("flash attention");
      expect(other?.textEdit).toEqual({ range: range(2, 0, 7), newText: "cache-type-v = " });
      const values = await editor.ask<CompletionItem[]>("completion", uri, 3, 6);
      expect(values.map(({ label }) => label)).toEqual(
        "f32 f16 bf16 q8_0 q4_0 q4_1 iq4_nl q5_0 q5_1".split(" "),
      );
    }));

  it("completes paths of model files beside the preset", () =>
    withEditor(async (editor) => {
      await writeFile(path.join(folder, "small.gguf"), "");
      await writeFile(path.join(folder, "notes.txt"), "");
      const file = pathToFileURL(path.join(folder, "models.ini")).href;
      await editor.show(file, "[a]\nm = ./\n");
      const values = await editor.ask<CompletionItem[]>("completion", file, 1, 6);
      expect(values.map(({ label }) => label)).toEqual(["./small.gguf"]);
    }));

  it("explains an option, and what a section costs", () =>
    withEditor(
      async (editor) => {
        await writeFile(path.join(folder, "coder.gguf"), "");
        const wrong = pathToFileURL(path.join(folder, "wrong.ini")).href;
        await editor.show(wrong, text);
        const stops = "Will not start: 2 errors";
        // what the router refuses keeps every model from being served
        for (const line of [4, 10]) {
          const { contents } = await editor.ask<Hover>("hover", wrong, line, 2);
          expect(JSON.stringify(contents)).toContain(stops);
        }
        const whole = { start: { line: 0, character: 0 }, end: { line: 12, character: 0 } };
        const shown = await editor.ask<CodeLens[]>("codeLens", wrong);
        expect(shown.map(({ command }) => command?.title)).toEqual([
          ...[stops, "Copy as command line"],
          ...[stops, "Copy as command line"],
        ]);
        expect(
          await editor.ask<InlayHint[]>("inlayHint", wrong, undefined, undefined, { range: whole }),
        ).toEqual([]);
        const uri = pathToFileURL(path.join(folder, "models.ini")).href;
        await editor.show(uri, text.replace("szie", "size").replace("  fa", "fa"));
        const option = await editor.ask<Hover>("hover", uri, 8, 1);
        expect(JSON.stringify(option.contents)).toMatch(/--cache-type-v.*LLAMA_ARG_CACHE_TYPE_V/s);
        await expect
          .poll(async () => JSON.stringify((await editor.ask<Hover>("hover", uri, 4, 2)).contents))
          .toMatch(/KV 2\.0 GiB/);
        const lenses = await editor.ask<CodeLens[]>("codeLens", uri);
        expect(lenses.map(({ range, command }) => [range.start.line, command?.title])).toContainEqual([
          4,
          "KV 2.0 GiB",
        ]);
        const copy = lenses.find(({ command }) => command?.command === "llamaGauge.preset.copyCommandLine");
        expect(copy?.command?.arguments).toMatchObject([
          {
            section: "coder",
            arguments: [
              "--n-gpu-layers",
              "99",
              "--cache-type-v",
              "q8_0",
              "--ctx-size",
              "32768",
              "--flash-attn",
              "on",
              "--model",
              "coder.gguf",
            ],
          },
        ]);
      },
      trusted,
      {
        sectionCost: () =>
          Promise.resolve({
            fits: true,
            verdict: say`KV ${bytes(2 * 2 ** 30)}`,
            contextHint: say`hint`,
            lines: [],
            devices: [],
          }),
      },
    ));

  it("outlines, folds, formats and renames", () =>
    withEditor(async (editor) => {
      await editor.show(uri, text);
      const symbols = await editor.ask<DocumentSymbol[]>("documentSymbol", uri);
      expect(symbols.map(({ name, children = [] }) => [name, children.map((child) => child.name)])).toEqual([
        ["*", ["ngl"]],
        ["coder", ["m", "ctx-szie", "fa", "ctv"]],
        ["chat", ["hf"]],
      ]);
      const folds = await editor.ask<FoldingRange[]>("foldingRange", uri);
      expect(folds.map(({ startLine, endLine }) => [startLine, endLine])).toEqual([
        [1, 2],
        [4, 8],
        [10, 11],
      ]);
      const edits = await editor.ask<TextEdit[]>("formatting", uri, undefined, undefined, { options: {} });
      const formatted = apply(text, edits);
      expect(formatted).toBe(text.replace("  fa", "fa").replace("ctv   =q8_0", "ctv = q8_0"));
      expect(await editor.ask<Range>("prepareRename", uri, 4, 3)).toEqual(range(4, 1, 6));
      const renamed = await editor.ask<WorkspaceEdit>("rename", uri, 4, 3, { newName: "writer" });
      expect(apply(text, renamed.changes?.[uri] ?? [])).toBe(text.replace("[coder]", "[writer]"));
    }));

  it("looks at no file until the workspace is trusted", () =>
    withEditor(
      async (editor) => {
        const file = pathToFileURL(path.join(folder, "models.ini")).href;
        const preset = "[a]\nm = /nowhere/at/all.gguf\n";
        const first = editor.diagnostics(file);
        await editor.show(file, preset);
        expect(await first).toEqual([]);
        await editor.connection.sendNotification(requests.refresh, { trusted: true });
        await expect.poll(() => editor.latest(file)?.map(({ code }) => code)).toEqual(["fileMissing"]);
      },
      { ...trusted, trusted: false },
    ));

  it("speaks the reader's language", () =>
    withEditor(
      async (editor) => {
        const first = editor.diagnostics(uri);
        await editor.show(uri, "[a\n");
        expect((await first).map(({ message }) => message)).toContain("括弧がありません。");
      },
      { ...trusted, translations: { "The closing bracket is missing.": "括弧がありません。" } },
    ));

  it("outlines and explains a log", () =>
    withEditor(async (editor) => {
      const log = "file:///x/llama-server.log";
      const lines = [
        "0.00.000.994 I srv  llama_server: initializing ...",
        "0.11.141.935 I llama_context: constructing llama_context",
        "0.11.143.702 I llama_kv_cache:        CPU KV buffer size =    32.00 MiB",
        "0.12.000.000 E srv    send_error: task id = 5, error: request (2048 tokens) exceeds the available context size (2048 tokens), try increasing it",
      ];
      await editor.show(log, lines.join("\n"), "llama-log");
      const symbols = await editor.ask<DocumentSymbol[]>("documentSymbol", log);
      expect(symbols.map(({ name }) => name)).toEqual(["Start", "Context"]);
      const folds = await editor.ask<FoldingRange[]>("foldingRange", log);
      expect(folds.map(({ startLine, endLine }) => [startLine, endLine])).toEqual([[1, 3]]);
      expect(JSON.stringify(await editor.ask<Hover>("hover", log, 2, 5))).toContain(
        "KV cache on CPU: 32.0 MiB",
      );
      expect(JSON.stringify(await editor.ask<Hover>("hover", log, 3, 5))).toContain("2,048");
    }));

  it("says so where a text is too long, or has more than is shown", () =>
    withEditor(async (editor) => {
      const said = async (name: string, content: string, language?: string): Promise<unknown[]> => {
        const first = editor.diagnostics(name);
        await editor.show(name, content, ...(language === undefined ? [] : [language]));
        return (await first).map(({ message }) => message).slice(-1);
      };
      const long = "x".repeat(600_000);
      expect(await said("file:///x/a.ini", `[a]\nm = ${long}`)).toEqual([expect.stringContaining("512 KiB")]);
      expect(await said("file:///x/a.sh", `llama-server ${long}`, "shellscript")).toEqual([
        expect.stringContaining("512 KiB"),
      ]);
      expect(await said("file:///x/b.sh", `ls ${long}`, "shellscript")).toEqual([]);
      expect(await said("file:///x/a.log", "\n".repeat(600_000), "llama-log")).toEqual([
        expect.stringContaining("too long"),
      ]);
      const sections = Array.from({ length: 1201 }, (_, i) => `[m${i}]\nc = 1`).join("\n");
      expect(await said("file:///x/b.ini", sections)).toEqual([
        expect.stringMatching(/^[\d,]+ more findings are not shown\.$/),
      ]);
      const lenses = await editor.ask<CodeLens[]>("codeLens", "file:///x/b.ini");
      expect(lenses.at(-1)?.command?.title).toContain("only the first 200 have them");
    }));

  it("checks and explains llama-server in scripts", () =>
    withEditor(async (editor) => {
      const script = "file:///x/serve.ps1";
      const first = editor.diagnostics(script);
      await editor.show(script, "& llama-server.exe -m $model `\n  -c 512k -fa on\n", "powershell");
      expect((await first).map(({ code, range }) => [code, range])).toEqual([
        ["trailingText", range(1, 5, 9)],
      ]);
      expect(JSON.stringify(await editor.ask<Hover>("hover", script, 1, 3))).toContain("--ctx-size");
      const other = "file:///x/other.sh";
      const none = editor.diagnostics(other);
      await editor.show(other, "ls -c 32k --no-mmap\n", "shellscript");
      expect(await none).toEqual([]);
    }));

  it("marks what several commands share once, and gives each a lens of its own", () =>
    withEditor(async (editor) => {
      const compose = "file:///x/compose.yaml";
      const found = editor.diagnostics(compose);
      const shared = "x: &run [llama-server, --ctx-sise, 5]\na: { command: *run }\nb: { command: *run }\n";
      await editor.show(compose, shared, "yaml");
      expect((await found).map(({ code, range }) => [code, range])).toEqual([
        ["unknownOption", range(0, 23, 33)],
      ]);
      const lenses = await editor.ask<CodeLens[]>("codeLens", compose);
      expect(new Set(lenses.map((lens) => JSON.stringify(lens.range)))).toEqual(
        new Set([range(1, 14, 18), range(2, 14, 18)].map((each) => JSON.stringify(each))),
      );
      const task = "file:///x/tasks.json";
      const inTask = editor.diagnostics(task);
      await editor.show(task, '{"command": "llama-server", "args": ["--ctx-\\u0073ise", "5"]}', "jsonc");
      expect((await inTask).map(({ range }) => range)).toEqual([range(0, 38, 53)]);
    }));

  it("stays alive with anything", () =>
    withEditor(async (editor) => {
      const texts = [
        "\u0000\ud800\n[",
        "[".repeat(100_000),
        "=".repeat(1_000_000),
        `[a]\n${"k = v\n".repeat(20_000)}`,
        "\r\r\r[\r",
      ];
      for (const [index, odd] of texts.entries()) {
        const each = `untitled:odd-${index}`;
        const found = editor.diagnostics(each);
        await editor.show(each, odd);
        expect(Array.isArray(await found)).toBe(true);
        await editor.ask("hover", each, 0, 0);
        await editor.ask("completion", each, 0, 0);
        await editor.ask("completion", each, 999, 999);
        await editor.ask("codeLens", each);
      }
      for (const language of ["yaml", "jsonc", "dockerfile"]) {
        for (const [index, odd] of texts.entries()) {
          const each = `file:///x/odd-${index}.${language}`;
          const found = editor.diagnostics(each);
          await editor.show(each, `llama-server ${odd}`, language);
          expect(Array.isArray(await found)).toBe(true);
        }
      }
    }));
});

const range = (line: number, start: number, end: number): Range => ({
  start: { line, character: start },
  end: { line, character: end },
});
