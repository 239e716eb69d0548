import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { commands, LanguageModelTextPart, lm, Selection, Uri, window, workspace } from "vscode";
import { Agent, someTokens, type Turn } from "../support/agent";
import { forgedModel } from "../support/forge/forgeModel";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { postJson } from "../support/postJson";
import { startSilentLlamaServer, type SilentLlamaServer } from "../support/silentLlamaServer";
import { activated, configure, copiedBy, diagnostic, estimated, until } from "./support";

interface Acceptance {
  readonly accepted: boolean | null;
  readonly promptTokens: number;
  readonly nCtxPerSlot: number | null;
  readonly parts: { readonly files: number };
}

const folder = (): Uri => {
  const root = workspace.workspaceFolders?.[0]?.uri;
  if (root === undefined) throw new Error("no folder is open");
  return root;
};
const inside = (name: string): Uri => Uri.joinPath(folder(), name);
const acceptance = async (): Promise<Acceptance> => (await diagnostic("Acceptance")) as Acceptance;

/** Tokens of the copied prompt as one user message, by the server's own two endpoints. */
async function tokensOfCopiedPrompt(url: string): Promise<number> {
  const content = await copiedBy("llamaGauge.copyPackedPrompt");
  const rendered = await postJson(`${url}/apply-template`, { messages: [{ role: "user", content }] });
  const { prompt } = rendered.body as { readonly prompt: string };
  const body = { content: prompt, add_special: true, parse_special: true };
  const counted = await postJson(`${url}/tokenize`, body);
  const { tokens } = counted.body as { readonly tokens: readonly number[] };
  return tokens.length;
}

async function toolAnswer(tool: string, input: object): Promise<string> {
  const { content } = await lm.invokeTool(`llamaGauge_${tool}`, { input, toolInvocationToken: undefined });
  return content.map((part) => (part instanceof LanguageModelTextPart ? part.value : "")).join("");
}

describe("an estimate in VS Code with a real llama-server", () => {
  let server: LlamaServerProcess;
  let logs: string;
  before(async function () {
    this.timeout(180_000);
    await activated();
    logs = mkdtempSync(path.join(os.tmpdir(), "gauge-estimate-"));
    server = await startLlamaServer({
      model: await forgedModel(),
      args: ["-c", "4096", "-np", "1", "-t", "1", "--log-file", path.join(logs, "server.log")],
    });
    await configure({ "server.url": server.url, showPanelOnEstimate: false });
  });
  after(async () => {
    await server.stop();
    rmSync(logs, { recursive: true, force: true });
    await configure({ "server.url": undefined, showPanelOnEstimate: undefined });
  });

  it("of a folder counts what the server counts", async () => {
    await estimated("llamaGauge.estimate", inside("src"), [inside("src")]);
    const { accepted, nCtxPerSlot, promptTokens } = await acceptance();
    assert.deepEqual({ accepted, nCtxPerSlot }, { accepted: true, nCtxPerSlot: 4096 });
    assert.equal(promptTokens, await tokensOfCopiedPrompt(server.url));
  });

  it("of several files and folders counts each file once", async () => {
    const uris = [inside("docs"), inside("docs/設計.md"), inside("README.md")];
    await estimated("llamaGauge.estimate", uris[0], uris);
    assert.match(String(await diagnostic("Files")), /^3 counted, 0 not/);
    assert.equal((await acceptance()).promptTokens, await tokensOfCopiedPrompt(server.url));
  });

  it("of the workspace leaves out what .gitignore and the settings name", async () => {
    await configure({ exclude: ["docs/**"] });
    await estimated("llamaGauge.estimateWorkspace");
    const prompt = await copiedBy("llamaGauge.copyPackedPrompt");
    await configure({ exclude: undefined });
    assert.match(prompt, /## src\/tides\.ts\n/);
    assert.match(prompt, /## native\/frame\.c\n/);
    assert.doesNotMatch(prompt, /## docs\/|## build\/|buoy\.png|scratch\.gen\.c/);
  });

  it("of a selection and of open editors counts what is not saved yet", async () => {
    const document = await workspace.openTextDocument({ content: "one two three\nfour five six\n" });
    const editor = await window.showTextDocument(document);
    editor.selection = new Selection(0, 4, 0, 13);
    await estimated("llamaGauge.estimateSelection");
    assert.match(await copiedBy("llamaGauge.copyPackedPrompt"), /\ntwo three\n/);
    assert.equal((await acceptance()).promptTokens, await tokensOfCopiedPrompt(server.url));
    await estimated("llamaGauge.estimateOpenEditors");
    assert.match(await copiedBy("llamaGauge.copyPackedPrompt"), /four five six/);
    assert.equal((await acceptance()).promptTokens, await tokensOfCopiedPrompt(server.url));
    await commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
  });

  it("answers a language model's question, and shows it nothing outside the workspace", async () => {
    const asked = (paths: readonly string[]): Promise<string> => toolAnswer("estimate_context", { paths });
    const { body } = await postJson(`${server.url}/tokenize`, {
      content: new TextDecoder().decode(await workspace.fs.readFile(inside("README.md"))),
    });
    const { tokens } = body as { readonly tokens: readonly number[] };
    assert.match(await asked(["README.md"]), new RegExp(`^- README\\.md: ${tokens.length}$`, "m"));
    assert.match(await asked(["../../etc"]), /is outside/);
  });

  it("forecasts the conversation for a language model, from the log that the server itself names", async () => {
    const turns: Turn[] = [];
    const agent = new Agent(server.url, { system: someTokens(500, 1), answer: 4 });
    for (let turn = 1; turn <= 4; turn++) turns.push(await agent.turn(someTokens(200, turn + 1)));
    assert.ok(turns.every((turn) => "generated" in turn));
    // prompts of 700, 904 … tokens; the answer's last token is never decoded
    const answer = await until("the fourth turn in the log", async () => {
      const text = await toolAnswer("forecast", {});
      return text.startsWith("Turn 4: 1,315 of 4,096.") ? text : undefined;
    });
    // 1,312 + 13 · 204 is the last below 4,096
    assert.match(answer, /^About 13 more turns of this size until it is refused\.$/m);
  });

  it("does not fit where the context is too small, as the server says itself", async () => {
    const big = inside("big.txt");
    await workspace.fs.writeFile(big, new TextEncoder().encode("pier 7 depth 12.5\n".repeat(1000)));
    await estimated("llamaGauge.estimate", big, [big]);
    const content = await copiedBy("llamaGauge.copyPackedPrompt");
    const { accepted, promptTokens } = await acceptance();
    // not before: the report follows its files
    await workspace.fs.delete(big);
    assert.equal(accepted, false);
    const { status, body } = await postJson(`${server.url}/v1/chat/completions`, {
      messages: [{ role: "user", content }],
      max_tokens: 1,
    });
    assert.equal(status, 400);
    const { error } = body as { readonly error: { readonly n_prompt_tokens: number } };
    assert.equal(promptTokens, error.n_prompt_tokens);
  });

  it("goes on without a server that does not answer, and says what is missing", async () => {
    await configure({ "server.url": "http://127.0.0.1:9" });
    await estimated("llamaGauge.estimate", inside("src"), [inside("src")]);
    assert.equal((await acceptance()).accepted, null);
    assert.match(String(await diagnostic("Server")), /127\.0\.0\.1:9\b/);
    assert.match(String(await diagnostic("Verdict")), /^unknown: ≈ /);
  });
});

describe("an estimate in VS Code that a stuck server holds up", () => {
  let silent: SilentLlamaServer;

  before(async () => {
    await activated();
    silent = await startSilentLlamaServer();
  });
  beforeEach(() => configure({ "server.url": silent.url, showPanelOnEstimate: false }));
  after(async () => {
    await silent.stop();
    await configure({ "server.url": undefined, showPanelOnEstimate: undefined });
  });

  function begin(name: string): Thenable<unknown> {
    return commands.executeCommand("llamaGauge.estimate", inside(name), [inside(name)]);
  }
  const counting = async (before: number): Promise<void> => {
    await until("the count to begin", () => silent.asked() > before || undefined);
  };
  const ended = async (): Promise<void> => {
    await until("the request to end", () => silent.waiting() === 0 || undefined);
  };

  it("is cancelled with its request, and falls back to what was known", async () => {
    // the last report may still follow its files
    await until("a report at rest", async () => (await diagnostic("State")) === "ready" || undefined);
    const outcome = begin("src");
    await counting(0);
    assert.equal(await diagnostic("State"), "counting");
    await commands.executeCommand("llamaGauge.cancel");
    assert.equal(await outcome, "cancelled");
    assert.equal(await diagnostic("State"), "ready");
    await ended();
  });

  it("is cancelled by a newer one", async () => {
    const asked = silent.asked();
    const first = begin("src");
    await counting(asked);
    await configure({ "server.url": "http://127.0.0.1:9" });
    const second = begin("docs");
    assert.equal(await first, "cancelled");
    assert.equal(await second, "done");
    await ended();
  });

  it("fails with one clear error when the server dies", async () => {
    const dying = await startSilentLlamaServer();
    await configure({ "server.url": dying.url });
    const outcome = begin("src");
    await until("the count to begin", () => dying.asked() > 0 || undefined);
    await dying.stop();
    // the command tells the user itself and resolves to nothing
    assert.equal(await outcome, undefined);
    assert.equal(await diagnostic("State"), "failed");
  });

  it("is cancelled while 5,000 files are being listed", async () => {
    const many = path.join(folder().fsPath, "many");
    for (let i = 0; i < 50; i++) {
      mkdirSync(path.join(many, String(i)), { recursive: true });
      for (let k = 0; k < 100; k++) writeFileSync(path.join(many, String(i), `${k}.txt`), `file ${k}\n`);
    }
    const outcome = begin("many");
    await commands.executeCommand("llamaGauge.cancel");
    assert.equal(await outcome, "cancelled");
    await workspace.fs.delete(Uri.file(many), { recursive: true });
  });
});
