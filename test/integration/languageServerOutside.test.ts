import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CodeLens, CompletionItem, Diagnostic, Hover, Position } from "vscode-languageserver/node";
import { speedFlags } from "../../src/core/llamaBench/benchArguments";
import type { SectionCommand } from "../../src/core/protocol/serverRequests";
import type { Finding } from "../../src/core/preset/finding";
import { PresetCosts } from "../../src/app/presetCosts";
import { HistoryStore } from "../../src/app/historyStore";
import { cliJson } from "../support/cli";
import { forgedModel } from "../support/forge/forgeModel";
import { removeBuiltServer, trusted, withEditor, type LanguageEditor } from "../support/languageEditor";
import { sampleSettings } from "../support/sampleSettings";

let folder: string;
let model: string;
const cacheBefore = process.env["LLAMA_CACHE"];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "language-files-"));
  model = await forgedModel({ contextLength: 4096 });
  const commit = "0123456789abcdef0123456789abcdef01234567";
  const repository = path.join(folder, "cache/models--own--tiny-GGUF");
  await mkdir(path.join(repository, "refs"), { recursive: true });
  await mkdir(path.join(repository, "snapshots", commit), { recursive: true });
  await writeFile(path.join(repository, "refs/main"), commit);
  for (const tag of ["Q4_K_M", "Q8_0"]) {
    await symlink(model, path.join(repository, "snapshots", commit, `tiny-${tag}.gguf`));
  }
  process.env["LLAMA_CACHE"] = path.join(folder, "cache");
});
afterAll(async () => {
  if (cacheBefore === undefined) delete process.env["LLAMA_CACHE"];
  else process.env["LLAMA_CACHE"] = cacheBefore;
  await rm(folder, { recursive: true, force: true });
  await removeBuiltServer();
});

const outside = (): PresetCosts =>
  new PresetCosts({
    cacheFolder: path.join(folder, "history"),
    settings: () => sampleSettings({ answerReserveTokens: 512 }),
  });
const uriOf = (name: string): string => pathToFileURL(path.join(folder, name)).href;
/** The first look at a machine's devices takes a while on a busy one. */
const patience = { timeout: 20_000 };
const contentsOf = (hover: Hover | null): string => JSON.stringify(hover?.contents ?? "");

async function titles(editor: LanguageEditor, uri: string): Promise<readonly string[]> {
  const lenses = await editor.ask<CodeLens[]>("codeLens", uri);
  return lenses.map(({ command }) => command?.title ?? "");
}

describe("what the language server knows of this machine", () => {
  it("offers the repositories of llama.cpp's cache, and costs a section by its cached file", () =>
    withEditor(
      async (editor) => {
        const uri = "untitled:Untitled-1";
        await editor.show(
          uri,
          "[a]\nhf = own\nc = 1024\nnp = 1\n[b]\nhfd = \n[c]\nhf = own/tiny-GGUF:Q5_0\nnp = 1\n",
        );
        for (const [line, character] of [
          [1, 8],
          [5, 6],
        ] as const) {
          const items = await editor.ask<CompletionItem[]>("completion", uri, line, character);
          expect(items.map(({ label }) => label)).toEqual(["own/tiny-GGUF:Q4_K_M", "own/tiny-GGUF:Q8_0"]);
          expect(items[0]?.textEdit).toMatchObject({
            range: { start: { line, character: line === 1 ? 5 : 6 } },
          });
        }
        // neither "own" nor Q5_0 is there
        expect((await titles(editor, uri)).filter((title) => title.includes("KV"))).toEqual([]);
        await editor.type(
          uri,
          { start: { line: 1, character: 5 }, end: { line: 1, character: 8 } },
          "own/tiny-GGUF",
        );
        await expect
          .poll(() => titles(editor, uri), patience)
          .toContainEqual(expect.stringMatching(/1,024 tokens per slot/));
      },
      trusted,
      outside(),
    ));

  it("asks nothing while the workspace is not trusted", async () => {
    const asked: string[] = [];
    const ask = (name: string) => (): Promise<undefined> => {
      asked.push(name);
      return Promise.resolve(undefined);
    };
    await withEditor(
      async (editor) => {
        const uri = uriOf("untrusted.ini");
        const found = editor.diagnostics(uri);
        await editor.show(uri, `[a]\nhf = own/tiny-GGUF\n[b]\nm = ${model}\nc = 9999\n`);
        await found;
        expect(await editor.ask<CompletionItem[]>("completion", uri, 1, 5)).toEqual([]);
        expect(await titles(editor, uri)).toContain("Show memory budget");
        await editor.ask("hover", uri, 2, 1);
        expect(asked).toEqual([]);
      },
      { ...trusted, trusted: false },
      {
        modelFacts: ask("facts"),
        sectionCost: ask("cost"),
        cachedModel: ask("cached"),
        repositories: () => ask("repositories")().then(() => []),
      },
    );
  });

  it("says how long a full prompt takes where that was measured with the same options, and only there", async () => {
    // 4096 tokens a second at the start, 2048 at a depth of 4096: a token at depth d takes (1 + d/4096)/4096 s
    const span = (depth: number): number => 512 * (1 / 4096) * (1 + (depth + 256) / 4096);
    const points = [0, 512, 1024, 1536].map((depth) => ({ depth, tokens: 512, seconds: span(depth) }));
    const flags = speedFlags({ cacheTypeK: "q8_0" });
    await new HistoryStore(path.join(folder, "history")).append({
      version: 1,
      id: "1",
      kind: "probe",
      at: Date.now() - 3 * 86_400_000,
      tool: "llama-server",
      curve: { key: { model, build: "b11669", flags }, points, generation: [] },
    });
    await withEditor(
      async (editor) => {
        const uri = uriOf("speed.ini");
        await editor.show(
          uri,
          [
            "[same]",
            `m = ${model}`,
            "c = 2560",
            "np = 1",
            "ctk = q8_0",
            "[other]",
            `m = ${model}`,
            "c = 2560",
            "np = 1",
          ].join("\n"),
        );
        await expect
          .poll(async () => contentsOf(await editor.ask<Hover>("hover", uri, 0, 2)), patience)
          .toContain("probed to 2,048 tokens 3 days ago");
        // 2,048 tokens: 0.5 s + 2048²/2/4096² s
        const hover = contentsOf(await editor.ask<Hover>("hover", uri, 0, 2)).replaceAll("\\\\", "");
        expect(hover).toMatch(/Full prompt of 2,048 tokens: ≈ 0\.6 s \(0\.\d s – 0\.\d s\)/);
        await expect
          .poll(async () => contentsOf(await editor.ask<Hover>("hover", uri, 5, 2)), patience)
          .toContain("KV cache");
        expect(contentsOf(await editor.ask<Hover>("hover", uri, 5, 2))).not.toContain("Full prompt");
        const lenses = await titles(editor, uri);
        expect(lenses.filter((title) => title.includes("full prompt ≈ 0.6 s"))).toHaveLength(1);
        expect(lenses.filter((title) => title === "Probe")).toHaveLength(2);
      },
      trusted,
      outside(),
    );
  });

  it("finds the same as llama-gauge lint, with everything that files and memory tell", async () => {
    await writeFile(path.join(folder, "cut.gguf"), "GGUF\0\0");
    const texts = {
      "outside.ini": [
        ["[*]", "ngl = 99", "[far]", `m = ${model}`, "c = 8192", "[gone]", "m = /nowhere/x.gguf"],
        ["[beyond]", `m = ${model}`, "c = 2000000000", "np = 1", "[cut]", "m = cut.gguf", "c = 300"],
        ["[cached]", "hf = own/tiny-GGUF", "c = 5000", "np = 1", "[relative]", "m = not/here.gguf"],
      ],
      "inside.ini": [
        [
          "a = b",
          "[*]",
          "fa = off",
          "ctv = q8_0",
          "c = 32k",
          "[a]",
          "m = x",
          "ctx-szie = 1",
          "no-mmap = on",
          "c = 1",
        ],
        [
          "ctx-size = 2",
          "ub = 4096",
          "[a ]",
          "  m = y",
          "np = 300",
          "api-key = secret",
          "port = 1",
          "kvu = maybe",
        ],
        [
          "[b",
          "m = x",
          "LLAMA_ARG_NO_MMPROJ = 1",
          "host = x",
          "[c]",
          "hff = f",
          "mg = 1",
          "[dup]",
          "[dup]",
          "version = 1",
          "alias = b,\u00a0a",
        ],
        ["[]", "=", "x y", "stop-timeout = soon", "usage = on", "control-vector-layer-range = 1 2", "[b]"],
      ],
    };
    for (const [name, parts] of Object.entries(texts)) {
      const text = parts.flat().join("\r\n");
      await writeFile(path.join(folder, name), text);
      const { findings } = (await cliJson(["lint", path.join(folder, name)])) as {
        readonly findings: readonly Finding[];
      };
      const expected = findings.map(({ code, line, column, endColumn }) => [code, line, column, endColumn]);
      await withEditor(
        async (editor) => {
          const uri = uriOf(name);
          let latest: readonly Diagnostic[] = [];
          const watch = async (): Promise<void> => {
            latest = await editor.diagnostics(uri);
            void watch();
          };
          void watch();
          await editor.show(uri, text);
          await expect
            .poll(
              () =>
                latest.map(({ code, range: { start, end } }) => [
                  code,
                  start.line + 1,
                  start.character + 1,
                  end.character + 1,
                ]),
              patience,
            )
            .toEqual(expected);
          expect(
            latest.every(({ code, codeDescription }) => codeDescription?.href === `docs:/${code}.md`),
          ).toBe(true);
        },
        { ...trusted, documentation: "docs:" },
        outside(),
      );
      const codes = new Set(findings.map(({ code }) => code));
      const wanted =
        name === "outside.ini"
          ? ["contextAboveTraining", "exceedsMemory", "fileMissing", "fitSwitchedOff"]
          : ["unknownKey", "renamedKey", "duplicateKey", "secretInFile", "keysBeforeSection"];
      expect(wanted.filter((code) => !codes.has(code))).toEqual([]);
    }
  });
});

/** Each starts the model with `--ctx-sise`, which is unknown, and `-c 1024 -np 1`. */
const scripts = (file: string): readonly (readonly [string, string, string])[] => [
  ["serve.sh", "shellscript", `#!/bin/sh\nexec llama-server -m ${file} \\\n  -c 1024 -np 1 --ctx-sise 1\n`],
  [
    "serve.ps1",
    "powershell",
    [
      `$model = "${file}"`,
      "if (-not (Get-Process llama-server -ErrorAction SilentlyContinue)) {",
      '  $list = @("-m", $model, "-c", "1024",',
      '    "-np", 1, "--ctx-sise", "1")',
      "  Start-Process llama-server.exe -ArgumentList $list -WindowStyle Hidden",
      "}",
    ].join("\r\n"),
  ],
  ["serve.bat", "bat", `@echo off\r\nllama-server.exe -m ${file} ^\r\n  -c 1024 -np 1 --ctx-sise 1\r\n`],
  [
    "tasks.json",
    "jsonc",
    JSON.stringify(
      {
        tasks: [{ command: "llama-server", args: ["-m", file, "-c", "1024", "-np", "1", "--ctx-sise", "1"] }],
      },
      undefined,
      2,
    ),
  ],
  [
    "Dockerfile",
    "dockerfile",
    `FROM x\nCMD ["llama-server", "-m", "${file}", "-c", "1024", "-np", "1", "--ctx-sise", "1"]\n`,
  ],
  [
    "compose.yaml",
    "dockercompose",
    `services:\n  llm:\n    command: ["llama-server", "-m", "${file}",\n      "-c", "1024", "-np", "1", "--ctx-sise", "1"]\n`,
  ],
  [
    "llama-swap.yaml",
    "yaml",
    `models:\n  tiny:\n    cmd: |\n      llama-server --port \${PORT} -m ${file}\n      -c 1024 -np 1\n      --ctx-sise 1\n    ttl: 60\n`,
  ],
];

describe("a command line of llama-server in another file", () => {
  it.each([
    "serve.sh",
    "serve.ps1",
    "serve.bat",
    "tasks.json",
    "Dockerfile",
    "compose.yaml",
    "llama-swap.yaml",
  ])("is checked, explained and costed in %s", async (wanted) => {
    const script = scripts(model).find(([name]) => name === wanted);
    if (script === undefined) throw new Error(wanted);
    const [name, language, text] = script;
    const placeOf = (part: string): Position => {
      const before = text.slice(0, text.indexOf(part) + 1).split("\n");
      return { line: before.length - 1, character: (before.at(-1) ?? "").length };
    };
    await withEditor(
      async (editor) => {
        const wrong = uriOf(`wrong-${name}`);
        const first = editor.diagnostics(wrong);
        await editor.show(wrong, text, language);
        const found = (await first).filter(({ code }) => code !== "contextRounded");
        expect(found.map(({ code, range }) => [code, range.start.line])).toEqual([
          ["unknownOption", placeOf("--ctx-sise").line],
        ]);
        // nothing is said of memory where the server would not start
        expect(await titles(editor, wrong)).toEqual(["Will not start: 1 error", "Check command line"]);
        const uri = uriOf(name);
        await editor.show(uri, text.replaceAll("--ctx-sise", "--threads"), language);
        const option = placeOf('-c"');
        const place = text.includes('-c"') ? option : placeOf("-c 1024");
        expect(contentsOf(await editor.ask<Hover>("hover", uri, place.line, place.character))).toContain(
          "--ctx-size",
        );
        await expect
          .poll(async () => (await titles(editor, uri))[0], patience)
          .toMatch(/1,024 tokens per slot/);
        const program = placeOf(name === "serve.ps1" ? "llama-server.exe" : "llama-server");
        expect(contentsOf(await editor.ask<Hover>("hover", uri, program.line, program.character))).toContain(
          "KV cache",
        );
        const lenses = await editor.ask<CodeLens[]>("codeLens", uri);
        // llama-swap puts the port in
        const plain = name !== "llama-swap.yaml";
        expect(lenses.slice(1).map(({ command }) => command?.title)).toEqual([
          ...(plain ? ["Probe", "Start"] : []),
          "Check command line",
        ]);
        const [argument] = (lenses[0]?.command?.arguments ?? []) as readonly SectionCommand[];
        expect(argument?.cost?.devices.length).toBeGreaterThan(0);
      },
      trusted,
      outside(),
    );
  });

  it("shows no secret in what its lenses carry", () =>
    withEditor(async (editor) => {
      const uri = uriOf("secret.sh");
      await editor.show(uri, "llama-server -m x --api-key sesame --hf-token=hf_sesame\n", "shellscript");
      const lenses = await editor.ask<CodeLens[]>("codeLens", uri);
      expect(lenses.length).toBeGreaterThan(0);
      expect(JSON.stringify(lenses)).not.toContain("sesame");
    }));
});
