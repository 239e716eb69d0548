import assert from "node:assert/strict";
import { commands, Uri, workspace } from "vscode";
import { forgedModel } from "../support/forge/forgeModel";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { postJson } from "../support/postJson";
import { activated, configure, copiedBy, diagnostic, estimated, until } from "./support";

interface Acceptance {
  readonly accepted: boolean | null;
  readonly promptTokens: number;
  readonly exact: boolean;
  readonly answerRoom: number | null;
}

const acceptance = async (): Promise<Acceptance> => (await diagnostic("Acceptance")) as Acceptance;
const prompt = (): Promise<string> => copiedBy("llamaGauge.copyPackedPrompt");

async function tokensByServer(url: string, content: string): Promise<number> {
  const rendered = await postJson(`${url}/apply-template`, { messages: [{ role: "user", content }] });
  const { prompt: whole } = rendered.body as { readonly prompt: string };
  const body = { content: whole, add_special: true, parse_special: true };
  return ((await postJson(`${url}/tokenize`, body)).body as { readonly tokens: readonly number[] }).tokens
    .length;
}

describe("choosing what goes into the prompt, in VS Code with a real llama-server", () => {
  let server: LlamaServerProcess;
  const reserve = 200;
  before(async function () {
    this.timeout(180_000);
    await activated();
    server = await startLlamaServer({ model: await forgedModel(), args: ["-c", "1024", "-np", "1"] });
    await configure({
      "server.url": server.url,
      showPanelOnEstimate: false,
      answerReserveTokens: reserve,
    });
  });
  after(async () => {
    await server.stop();
    await configure({
      "server.url": undefined,
      showPanelOnEstimate: undefined,
      answerReserveTokens: undefined,
      packOrder: undefined,
    });
  });

  it("counts with the model's own vocabulary once the server has given the same tokens", async () => {
    const roots = ["src", "docs", "package-lock.json"].map((name) => {
      const root = workspace.workspaceFolders?.[0]?.uri;
      if (root === undefined) throw new Error("no folder is open");
      return Uri.joinPath(root, name);
    });
    await estimated("llamaGauge.estimate", roots[0], roots);
    const tokenizer = (await diagnostic("Tokenizer")) as {
      readonly source: string;
      readonly checkedWith?: string;
    };
    assert.deepEqual([tokenizer.source, tokenizer.checkedWith], ["gguf", server.url]);
    const { accepted, exact, promptTokens } = await acceptance();
    assert.deepEqual({ accepted, exact }, { accepted: false, exact: true });
    assert.equal(promptTokens, await tokensByServer(server.url, await prompt()));
  });

  it("drops the least until prompt and answer fit, and is exact about what is left", async () => {
    const whole = await prompt();
    await commands.executeCommand("llamaGauge.dropToFit");
    const { accepted, exact, promptTokens, answerRoom } = await acceptance();
    assert.deepEqual({ accepted, exact }, { accepted: true, exact: true });
    assert.ok(answerRoom !== null && answerRoom >= reserve, String(answerRoom));
    const left = await prompt();
    assert.ok(left.length > 0 && left.length < whole.length);
    // the lock file is worth least
    assert.match(whole, /## package-lock\.json\n/);
    assert.doesNotMatch(left, /## package-lock\.json\n/);
    assert.equal(promptTokens, await tokensByServer(server.url, left));
  });

  it("takes everything back in, in the order that is asked for", async () => {
    const left = await acceptance();
    await commands.executeCommand("llamaGauge.includeAll");
    await commands.executeCommand("llamaGauge.choosePackOrder", "importantLast");
    const all = await until("all files, counted", async () => {
      const now = await acceptance();
      return now.exact && now.promptTokens > left.promptTokens ? now : undefined;
    });
    const text = await prompt();
    assert.equal(all.promptTokens, await tokensByServer(server.url, text));
    assert.ok(text.indexOf("## package-lock.json") < text.indexOf("## src/tides.ts"));
  });
});
