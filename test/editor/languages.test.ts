import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  commands,
  env,
  languages,
  MarkdownString,
  Position,
  Range,
  Uri,
  window,
  workspace,
  type CodeLens,
  type CompletionList,
  type DocumentSymbol,
  type Hover,
  type InlayHint,
  type TextDocument,
  type TextEdit,
  WorkspaceEdit,
} from "vscode";
import { forgedModel } from "../support/forge/forgeModel";
import { activated, until } from "./support";

let folder: string;

function open(name: string, text: string): Thenable<TextDocument> {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return workspace.openTextDocument(Uri.file(file)).then(async (document) => {
    await window.showTextDocument(document);
    return document;
  });
}

/** Our language servers that this extension host has started. */
function languageServers(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const parent = /\nPPid:\t(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
        const its = readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("languageServer.js");
        return its && Number(parent) === process.pid ? [Number(pid)] : [];
      } catch {
        // gone meanwhile
        return [];
      }
    });
}

describe("model presets and logs in the editor", function () {
  this.timeout(60_000);

  before(async () => {
    await activated();
    folder = mkdtempSync(path.join(tmpdir(), "lg-languages-"));
  });
  after(async () => {
    await commands.executeCommand("workbench.action.closeAllEditors");
    rmSync(folder, { recursive: true, force: true });
  });

  it("finds what is wrong in a preset, and fixes it", async () => {
    const document = await open("a.llama.ini", "[coder]\nm = x.gguf\nctx-szie = 4096\n");
    assert.equal(document.languageId, "llama-presets");
    const [finding] = await until("the finding", () => {
      const found = languages.getDiagnostics(document.uri);
      return found.length > 0 ? found : undefined;
    });
    const { value, target } = finding?.code as { readonly value: string; readonly target: Uri };
    assert.equal(value, "unknownKey");
    const page = await workspace.openTextDocument(target);
    assert.match(page.getText(), /^#### `unknownKey`\n\nllama-server does not know the option/);
    const actions = await commands.executeCommand<{ readonly title: string }[]>(
      "vscode.executeCodeActionProvider",
      document.uri,
      new Range(2, 0, 2, 8),
    );
    assert.deepEqual(
      actions.map(({ title }) => title),
      ["Change to ctx-size"],
    );
  });

  it("knows a preset in a plain .ini, and leaves other .ini files alone", async () => {
    const preset = await open("plain.ini", "[*]\nngl = 99\n[a]\nhf = owner/repo\nctx-size = 4096\n");
    await until("the language", () =>
      workspace.textDocuments.some(
        ({ uri, languageId }) => uri.path === preset.uri.path && languageId === "llama-presets",
      )
        ? true
        : undefined,
    );
    const other = await open("other.ini", "[user]\nname = x\nemail = y\n");
    assert.notEqual(other.languageId, "llama-presets");
  });

  it("shows what a section costs, from the model's header", async () => {
    const model = await forgedModel({ contextLength: 4096 });
    const document = await open("b.llama.ini", `[tiny]\nm = ${model}\nc = 2048\nnp = 1\n`);
    const lens = await until("the verdict", async () => {
      const lenses = await commands.executeCommand<CodeLens[]>(
        "vscode.executeCodeLensProvider",
        document.uri,
      );
      return lenses.find(({ command }) => /2,048 tokens per slot/.test(command?.title ?? ""));
    });
    await commands.executeCommand(
      lens.command?.command ?? "",
      ...((lens.command?.arguments ?? []) as unknown[]),
    );
    const budget = await until("the budget", () =>
      workspace.textDocuments.find((its) => its.getText().startsWith("# Memory of tiny")),
    );
    assert.match(budget.getText(), /\| Host \| [\d.]+ [KM]iB \|/);
    const hints = await commands.executeCommand<InlayHint[]>(
      "vscode.executeInlayHintProvider",
      document.uri,
      new Range(0, 0, 4, 0),
    );
    assert.deepEqual(
      hints.map(({ position: { line, character } }) => [line, character]),
      [[2, 8]],
    );
    const label = hints[0]?.label;
    assert.match(typeof label === "string" ? label : "", /^2,048 tokens per slot, KV [\d.]+ [KM]iB$/);
    const hovers = await commands.executeCommand<Hover[]>(
      "vscode.executeHoverProvider",
      document.uri,
      new Position(0, 2),
    );
    const text = hovers.flatMap(({ contents }) =>
      contents.map((part) => (part instanceof MarkdownString ? part.value : "")),
    );
    assert.match(text.join(), /per token/);
  });

  it("completes, outlines, formats, and copies a command line", async () => {
    const document = await open("c.llama.ini", "[a]\nm=my model.gguf\nctk = \n");
    const list = await commands.executeCommand<CompletionList>(
      "vscode.executeCompletionItemProvider",
      document.uri,
      new Position(2, 6),
    );
    assert.ok(list.items.some(({ label }) => label === "q8_0"));
    const symbols = await commands.executeCommand<DocumentSymbol[]>(
      "vscode.executeDocumentSymbolProvider",
      document.uri,
    );
    assert.deepEqual(
      symbols.map(({ name }) => name),
      ["a"],
    );
    const edits = await commands.executeCommand<TextEdit[]>(
      "vscode.executeFormatDocumentProvider",
      document.uri,
      {
        tabSize: 2,
        insertSpaces: true,
      },
    );
    assert.ok(edits.length > 0);
    const lenses = await commands.executeCommand<CodeLens[]>("vscode.executeCodeLensProvider", document.uri);
    const copy = lenses.find(
      ({ command }) => command?.command === "llamaGauge.preset.copyCommandLine",
    )?.command;
    await commands.executeCommand(copy?.command ?? "", ...((copy?.arguments ?? []) as unknown[]));
    assert.equal(await env.clipboard.readText(), "llama-server --model 'my model.gguf'");
  });

  it("offers what is in llama.cpp's cache for hf", async () => {
    const commit = "0123456789abcdef0123456789abcdef01234567";
    const repository = path.join(folder, "cache/models--own--tiny-GGUF");
    mkdirSync(path.join(repository, "refs"), { recursive: true });
    mkdirSync(path.join(repository, "snapshots", commit), { recursive: true });
    writeFileSync(path.join(repository, "refs/main"), commit);
    writeFileSync(path.join(repository, "snapshots", commit, "tiny-Q4_K_M.gguf"), "");
    const before = process.env["LLAMA_CACHE"];
    process.env["LLAMA_CACHE"] = path.join(folder, "cache");
    try {
      const document = await open("d.llama.ini", "[a]\nhf = \n");
      const list = await commands.executeCommand<CompletionList>(
        "vscode.executeCompletionItemProvider",
        document.uri,
        new Position(1, 5),
      );
      assert.ok(list.items.some(({ label }) => label === "own/tiny-GGUF:Q4_K_M"));
    } finally {
      if (before === undefined) delete process.env["LLAMA_CACHE"];
      else process.env["LLAMA_CACHE"] = before;
    }
  });

  const wrongIn: readonly (readonly [string, string, (model: string) => string])[] = [
    ["serve.sh", "shellscript", (model) => `llama-server -m ${model} \\\n  -c 2048 -np 1 --ctx-sise 1\n`],
    [
      "serve.ps1",
      "powershell",
      (model) =>
        `$list = @('-m', '${model}', '-c', 2048, '-np', 1,\n  '--ctx-sise', 1)\nStart-Process llama-server -ArgumentList $list\n`,
    ],
    [
      "tasks.json",
      "jsonc",
      (model) =>
        `{"tasks": [{"command": "llama-server", "args": ["-m", "${model}", "-c", "2048", "-np", "1", "--ctx-sise", "1"]}]}\n`,
    ],
    [
      "Dockerfile",
      "dockerfile",
      (model) =>
        `FROM x\nCMD ["llama-server", "-m", "${model}", "-c", "2048", "-np", "1", "--ctx-sise", "1"]\n`,
    ],
    [
      "compose.yaml",
      "dockercompose",
      (model) => `services:\n  a:\n    command: llama-server -m ${model} -c 2048 -np 1 --ctx-sise 1\n`,
    ],
    [
      "swap.yaml",
      "yaml",
      (model) =>
        `models:\n  a:\n    cmd: |\n      llama-server --port \${PORT} -m ${model}\n      -c 2048 -np 1 --ctx-sise 1\n`,
    ],
  ];
  for (const [name, language, textOf] of wrongIn) {
    it(`checks, explains and costs llama-server in ${name}`, async () => {
      const text = textOf(await forgedModel({ contextLength: 4096 }));
      const { uri, languageId } = await open(name, text);
      assert.equal(languageId, language);
      const found = await until("the finding", () => {
        const own = languages.getDiagnostics(uri).filter(({ source }) => source === "Llama Gauge");
        return own.length > 0 ? own : undefined;
      });
      assert.deepEqual(
        found.map(({ code }) => (code as { readonly value: string }).value),
        ["unknownOption"],
      );
      const document = await workspace.openTextDocument(uri);
      const stopped = await commands.executeCommand<CodeLens[]>("vscode.executeCodeLensProvider", uri);
      assert.equal(stopped[0]?.command?.title, "Will not start: 1 error");
      const at = text.indexOf("--ctx-sise");
      const edit = new WorkspaceEdit();
      const typo = new Range(document.positionAt(at), document.positionAt(at + "--ctx-sise".length));
      edit.replace(uri, typo, "--threads");
      await workspace.applyEdit(edit);
      const titles = await until("the verdict", async () => {
        const lenses = await commands.executeCommand<CodeLens[]>("vscode.executeCodeLensProvider", uri);
        const all = lenses.map(({ command }) => command?.title ?? "");
        return all.some((title) => /2,048 tokens per slot/.test(title)) ? all : undefined;
      });
      assert.ok(titles.includes("Check command line"));
      const hovers = await commands.executeCommand<Hover[]>(
        "vscode.executeHoverProvider",
        uri,
        document.positionAt(text.indexOf("-np") + 1),
      );
      const help = hovers.flatMap(({ contents }) =>
        contents.map((part) => (part instanceof MarkdownString ? part.value : "")),
      );
      assert.match(help.join(), /--parallel/);
    });
  }

  // where the processes are listed as files
  if (process.platform === "linux") {
    it("goes on with a language server of its own accord when that one was killed", async () => {
      const before = languageServers();
      assert.equal(before.length, 1);
      for (const pid of before) process.kill(pid, "SIGKILL");
      await until("another one", () => {
        const now = languageServers();
        return now.length === 1 && now[0] !== before[0] ? true : undefined;
      });
      const document = await open("e.llama.ini", "[coder]\nm = x.gguf\nctx-szie = 4096\n");
      await until("the finding", () => languages.getDiagnostics(document.uri)[0]);
    });
  }

  it("explains a log and checks a command line", async () => {
    const log = await open(
      "llama-server.log",
      "0.00.001.000 E srv send_error: task id = 5, error: request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it\n",
    );
    assert.equal(log.languageId, "llama-log");
    await commands.executeCommand("llamaGauge.explainLog");
    const explained = await until("the explanation", () =>
      workspace.textDocuments.find(
        (document) => document.languageId === "markdown" && document.getText().includes("9,000"),
      ),
    );
    assert.match(explained.getText(), /at least -c/);
    assert.ok(explained.getText().includes(`](${log.uri.toString()}#L1)`));
    await open("check.sh", "llama-server -m a.gguf -c 32k --no-mmap\n");
    await commands.executeCommand("llamaGauge.checkCommandLine");
    const checked = await until("the check", () =>
      workspace.textDocuments.find((document) => document.getText().includes("Command line of llama-server")),
    );
    assert.match(checked.getText(), /32k[^]*--load-mode none/);
    // the cursor is in the first line, the only command is further down
    await open("far.sh", "# how it is started\n\nMODEL=far.gguf\nllama-server -m $MODEL \\\n  -c 31k\n");
    await commands.executeCommand("llamaGauge.checkCommandLine");
    const far = await until("the other check", () =>
      workspace.textDocuments.find((document) => document.getText().includes("far.gguf -c 31k")),
    );
    assert.match(far.getText(), /Command line of llama-server/);
  });
});
