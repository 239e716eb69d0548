import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  commands,
  ConfigurationTarget,
  MarkdownString,
  Position,
  tasks,
  Uri,
  window,
  workspace,
  type CodeLens,
  type Hover,
} from "vscode";
import { forgedModel } from "../support/forge/forgeModel";
import { llamaCppFolder } from "../support/llamaCpp";
import { activated, configure, copiedBy, diagnostic, estimated, until } from "./support";

interface Acceptance {
  readonly nCtxPerSlot: number | null;
}

const ours = (): typeof tasks.taskExecutions =>
  tasks.taskExecutions.filter(({ task }) => task.source === "Llama Gauge");

async function stopAll(): Promise<void> {
  for (const execution of ours()) execution.terminate();
  await until("the end of the servers", () => (ours().length === 0 ? true : undefined));
}

/** Command lines of this machine's processes with a word in them, where the system tells them as files. */
async function processesWith(word: string): Promise<readonly string[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const lines = pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""));
  return (await Promise.all(lines)).filter((line) => line.includes(word));
}

describe("llama-server started from the editor", function () {
  this.timeout(120_000);
  let folder: string;

  before(async () => {
    await activated();
    folder = mkdtempSync(path.join(tmpdir(), "lg start "));
    await configure({ llamaCppFolder: await llamaCppFolder(), showPanelOnEstimate: false });
    // a task saves what other tests left unsaved, and asks for names
    await workspace.getConfiguration("task").update("saveBeforeRun", "never", ConfigurationTarget.Global);
  });
  after(async () => {
    await stopAll();
    await configure({
      llamaCppFolder: undefined,
      showPanelOnEstimate: undefined,
      serverArguments: undefined,
      probeSeconds: undefined,
    });
    await commands.executeCommand("workbench.action.closeAllEditors");
    rmSync(folder, { recursive: true, force: true });
  });

  it("from a section of a preset, with its options as they are, and the estimate asks it", async () => {
    const model = await forgedModel();
    const file = path.join(folder, "my models.llama.ini");
    // a shell would run the second half of this name
    writeFileSync(
      file,
      `[*]\nnp = 2\n[tiny; touch pwned]\nm = ${model}\nctx-size = 1536\nkv-unified = off\n`,
    );
    const document = await workspace.openTextDocument(Uri.file(file));
    await window.showTextDocument(document);
    const lens = await until("the lens", async () => {
      const lenses = await commands.executeCommand<CodeLens[]>(
        "vscode.executeCodeLensProvider",
        document.uri,
      );
      return lenses.find(({ command }) => command?.command === "llamaGauge.startServer")?.command;
    });
    const url = await commands.executeCommand<string | undefined>(
      lens.command,
      ...((lens.arguments ?? []) as unknown[]),
    );
    assert.match(String(url), /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(existsSync(path.join(folder, "pwned")), false);
    assert.equal(ours().length, 1);
    const readme = Uri.joinPath(workspace.workspaceFolders?.[0]?.uri ?? document.uri, "README.md");
    await estimated("llamaGauge.estimate", readme, [readme]);
    assert.equal(((await diagnostic("Acceptance")) as Acceptance).nCtxPerSlot, 768);
    await stopAll();
    await until("the end of the process", () =>
      fetch(`${String(url)}/health`).then(
        () => undefined,
        () => true,
      ),
    );
  });

  it("for a probe of a section: measured, ended, and known above the section", async () => {
    const model = path.join(folder, "tiny.gguf");
    copyFileSync(await forgedModel(), model);
    await configure({ probeSeconds: 20 });
    // relative, as people write it beside their models
    const file = path.join(folder, "probe.llama.ini");
    writeFileSync(file, "[tiny]\nm = tiny.gguf\nctx-size = 2560\nnp = 1\nctk = q8_0\nctv = q8_0\n");
    const document = await workspace.openTextDocument(Uri.file(file));
    await window.showTextDocument(document);
    const lenses = async (): Promise<CodeLens[]> =>
      commands.executeCommand<CodeLens[]>("vscode.executeCodeLensProvider", document.uri);
    const lens = await until("the lens", async () =>
      (await lenses()).find(({ command }) => command?.command === "llamaGauge.runDepthProbe"),
    );
    assert.equal(lens.command?.title, "Probe");
    const ended = await commands.executeCommand(
      "llamaGauge.runDepthProbe",
      ...((lens.command.arguments ?? []) as unknown[]),
    );
    assert.match(String(ended), /^(finished|budget)$/);
    await until("the end of its server", () => (ours().length === 0 ? true : undefined));
    assert.deepEqual(await processesWith(model), []);
    const title = await until("the wait", async () =>
      (await lenses()).map(({ command }) => command?.title ?? "").find((its) => its.includes("full prompt")),
    );
    // 2560 tokens, 2048 of them reserved for the answer
    assert.match(
      title,
      /^(Fits|Tight): .*2,560 tokens per slot · full prompt ≈ [\d.]+ s \([\d.]+ s – [\d.]+ s\)$/,
    );
    const hovers = await commands.executeCommand<Hover[]>(
      "vscode.executeHoverProvider",
      document.uri,
      new Position(0, 2),
    );
    const said = hovers.flatMap(({ contents }) =>
      contents.map((part) => (part instanceof MarkdownString ? part.value.replaceAll("\\", "") : "")),
    );
    assert.match(said.join(), /Full prompt of 512 tokens: ≈ [\d.]+ s .*probed to [\d,]+ tokens just now/);
  });

  it("from the setting, on a port that was named", async () => {
    const { freePort } = await import("../support/freePort");
    const port = await freePort();
    await configure({
      serverArguments: `-m "${await forgedModel()}" -c 512 --port ${port} --api-key sesame`,
    });
    await commands.executeCommand("workbench.action.closeAllEditors");
    const url = await commands.executeCommand<string>("llamaGauge.startServer");
    assert.equal(url, `http://127.0.0.1:${port}`);
    const answer = await fetch(`${url}/props`, { headers: { authorization: "Bearer sesame" } });
    assert.equal(answer.status, 200);
    // its key is known here, so nobody is asked for it
    const readme = Uri.joinPath(workspace.workspaceFolders?.[0]?.uri ?? Uri.file(folder), "README.md");
    await estimated("llamaGauge.estimate", readme, [readme]);
    assert.equal(((await diagnostic("Acceptance")) as Acceptance).nCtxPerSlot, 512);
    assert.doesNotMatch(await copiedBy("llamaGauge.copyDiagnostics"), /sesame/);
    await stopAll();
  });

  it("that ends at once is told as a failure, and nothing keeps running", async () => {
    await configure({ serverArguments: `-m "${path.join(folder, "missing.gguf")}" -c 512` });
    assert.equal(await commands.executeCommand("llamaGauge.startServer"), undefined);
    await until("its end", () => (ours().length === 0 ? true : undefined));
  });
});
