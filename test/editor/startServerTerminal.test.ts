import assert from "node:assert/strict";
import { window, type Terminal, type TerminalShellIntegration } from "vscode";
import { ServersInEditor } from "../../src/client/servers/serversInEditor";
import { discoverServer } from "../../src/node/llamaServer/serverDiscovery";
import { forgedModel } from "../support/forge/forgeModel";
import { freePort } from "../support/freePort";
import { llamaProgram } from "../support/llamaCpp";
import { until } from "./support";

const signal = new AbortController().signal;

describe("a llama-server that was started in a terminal by hand", function () {
  this.timeout(120_000);
  let terminal: Terminal;
  let serversInEditor: ServersInEditor;

  before(() => {
    serversInEditor = new ServersInEditor();
    terminal = window.createTerminal({ name: "my shell", shellPath: "/bin/bash" });
  });
  after(() => {
    terminal.dispose();
    serversInEditor.dispose();
  });

  /** Resolves when a command has come to its end. */
  async function prompted(shell: TerminalShellIntegration): Promise<void> {
    let ended = false;
    const watch = window.onDidEndTerminalShellExecution(() => (ended = true));
    shell.executeCommand("true");
    await until("the prompt", () => ended || undefined, 60_000);
    watch.dispose();
  }

  /** Servers found in terminals alone, as the extension finds them where processes are not shown. */
  async function found(): Promise<unknown> {
    const addresses = (await serversInEditor.addresses()).filter(({ source }) => source.kind === "terminal");
    const { tries } = await discoverServer({ addresses, ports: [] }, signal);
    return tries.map(({ url, source, facts }) => ({ url, source, nCtxPerSlot: facts?.nCtxPerSlot }));
  }

  it("is found while it runs, and not afterwards", async () => {
    const port = await freePort();
    const shell = await until("shell integration", () => terminal.shellIntegration, 60_000);
    // the shell is known before its first prompt is there, and what is typed until then may be taken for the prompt's own
    await prompted(shell);
    const execution = shell.executeCommand(await llamaProgram("llama-server"), [
      ...["-m", await forgedModel(), "-c", "768", "-np", "1"],
      ...["--host", "127.0.0.1", "--port", String(port), "--offline"],
    ]);
    const expected = [
      {
        url: `http://127.0.0.1:${port}`,
        source: { kind: "terminal", name: "my shell" },
        nCtxPerSlot: 768,
      },
    ];
    let latest: unknown;
    await until(
      "the server",
      async () => {
        latest = await found();
        return JSON.stringify(latest) === JSON.stringify(expected) ? true : undefined;
      },
      60_000,
    ).catch(() => assert.deepEqual(latest, expected));
    assert.match(execution.commandLine.value, /llama-server/);
    // as a user would end it
    terminal.sendText("\u0003", false);
    const gone = async (): Promise<true | undefined> =>
      (await serversInEditor.addresses()).every(({ source }) => source.kind !== "terminal")
        ? true
        : undefined;
    await until("its end", gone, 60_000);
    assert.deepEqual(await found(), []);
  });
});
