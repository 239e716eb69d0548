import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { commands, languages, Range, Uri, window, workspace, type Diagnostic } from "vscode";
import { forgedRecallModel } from "../support/forge/recallModel";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { activated, configure, until } from "./support";

const plan = (rungs: string, perRun: number): string => `rungs: ${rungs}
baseTokens: 600
repetitions: 2
canaries: { target: 3, other: 3 }
constraints: false
answerTokens: 160
criteria: { perRun: ${perRun}, pooled: ${2 * perRun} }
`;

async function problemsOf(uri: Uri): Promise<readonly Diagnostic[]> {
  return until("problems", () => {
    const found = languages.getDiagnostics(uri).filter(({ source }) => source === "Llama Gauge");
    return found.length > 0 ? found : undefined;
  });
}

/** What is exported, and stands in a document of its own. */
async function exported(format: "markdown" | "json"): Promise<string> {
  const text = await commands.executeCommand<string>("llamaGauge.exportLadderReport", format);
  await until("the document", () =>
    workspace.textDocuments.some((document) => document.isUntitled && document.getText() === text)
      ? true
      : undefined,
  );
  return text;
}

/** Without the question whether they are to be saved. */
async function closeAll(): Promise<void> {
  for (let tabs = 0; tabs < 20 && window.tabGroups.all.some((group) => group.tabs.length > 0); tabs++) {
    await commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
  }
}

interface Slot {
  readonly n_prompt_tokens?: number;
  readonly is_processing: boolean;
}

async function untilSlots(
  url: string,
  what: string,
  wanted: (slots: readonly Slot[]) => boolean,
): Promise<void> {
  await until(
    what,
    async () => (wanted((await (await fetch(`${url}/slots`)).json()) as readonly Slot[]) ? true : undefined),
    120_000,
  );
}

describe("the ladder in VS Code with a real llama-server", function () {
  this.timeout(300_000);
  let server: LlamaServerProcess;
  let folder: string;

  before(async () => {
    await activated();
    folder = mkdtempSync(path.join(tmpdir(), "lg ladder "));
    server = await startLlamaServer({
      model: await forgedRecallModel({ window: 3000 }),
      // batches so small that /slots is answered many times while a long prompt is read
      args: ["-c", "4096", "-np", "1", "-t", "1", "-b", "64", "-ub", "64"],
    });
    await configure({ "server.url": server.url, showPanelOnEstimate: false });
  });
  after(async () => {
    await server.stop();
    await configure({ "server.url": undefined, showPanelOnEstimate: undefined });
    await closeAll();
    rmSync(folder, { recursive: true, force: true });
  });

  it("creates a plan for the server in use, without a problem of its own", async () => {
    await commands.executeCommand("llamaGauge.createLadderPlan");
    const document = await until("the plan", () => {
      const shown = window.activeTextEditor?.document;
      return shown !== undefined && /window(-\d+)?\.ladder\.yaml$/.test(shown.fileName) ? shown : undefined;
    });
    assert.match(document.getText(), /One request may hold 4096 tokens here\.\nrungs: \[\d+, \d+\]/);
    await until("no problem", () => (languages.getDiagnostics(document.uri).length === 0 ? true : undefined));
    await commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
  });

  it("marks what is wrong in a plan, and takes the mark away when it is right", async () => {
    const file = path.join(folder, "marked.ladder.yaml");
    writeFileSync(file, plan("[700, 900]", 2).replace("perRun: 2", "perRun: 9"));
    const document = await workspace.openTextDocument(Uri.file(file));
    const editor = await window.showTextDocument(document);
    const [problem] = await problemsOf(document.uri);
    assert.match(
      problem?.message ?? "",
      /^criteria\.perRun: 9 canaries cannot be recalled: only 3 are asked for\./,
    );
    assert.equal(problem?.range.start.line, 6);
    const at = document.positionAt(document.getText().indexOf("9,"));
    await editor.edit((edit) => edit.replace(new Range(at, at.translate(0, 1)), "2"));
    await until("no problem", () => (languages.getDiagnostics(document.uri).length === 0 ? true : undefined));
    await document.save();
  });

  it("runs a plan to its verdict, keeps the record, and exports it", async () => {
    const file = path.join(folder, "short.ladder.yaml");
    writeFileSync(file, plan("[900]", 3));
    assert.equal(await commands.executeCommand("llamaGauge.runLadder", Uri.file(file), "unasked"), "passed");
    const markdown = await exported("markdown");
    assert.match(markdown, /^# Acceptance ladder: 900 tokens passed\n/);
    assert.match(markdown, /\| 900 \| target \| 2 \| 6\/6 \|/);
    const json = JSON.parse(await exported("json")) as {
      readonly pass: boolean;
      readonly header: { readonly label: string; readonly nCtxPerSlot: number };
    };
    assert.deepEqual(
      [json.pass, json.header.label, json.header.nCtxPerSlot],
      [true, "short.ladder.yaml", 4096],
    );
  });

  it("keeps what was measured when it is cancelled, and goes on behind it", async () => {
    const file = path.join(folder, "cut.ladder.yaml");
    writeFileSync(file, plan("[760, 2400]", 3));
    const first = commands.executeCommand("llamaGauge.runLadder", Uri.file(file), "unasked");
    await untilSlots(server.url, "the target's run", (slots) =>
      slots.some((slot) => slot.is_processing && (slot.n_prompt_tokens ?? 0) > 2000),
    );
    await commands.executeCommand("llamaGauge.cancelLadder");
    assert.equal(await first, undefined);
    const cut = JSON.parse(await exported("json")) as {
      readonly rungs: readonly { readonly tokens: number }[];
    };
    assert.deepEqual(
      cut.rungs.map(({ tokens }) => tokens),
      [600, 760],
    );
    await untilSlots(server.url, "an idle server", (slots) => slots.every((slot) => !slot.is_processing));
    assert.equal(await commands.executeCommand("llamaGauge.resumeLadder", "unasked"), "passed");
    const whole = await exported("markdown");
    assert.match(whole, /^# Acceptance ladder: 2,400 tokens passed\n/);
    assert.match(whole, /\| 760 \| curve \| 1 \| 3\/3 \|/);
  });

  it("says why a plan cannot be run, and begins nothing", async () => {
    const file = path.join(folder, "long.ladder.yaml");
    writeFileSync(file, plan("[700, 9000]", 0));
    assert.equal(await commands.executeCommand("llamaGauge.runLadder", Uri.file(file), "unasked"), undefined);
    const markdown = await exported("markdown");
    assert.match(markdown, /^# Acceptance ladder: 2,400 tokens/);
  });
});
