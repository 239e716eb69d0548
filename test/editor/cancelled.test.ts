import assert from "node:assert/strict";
import path from "node:path";
import { CancellationTokenSource, commands, lm, workspace } from "vscode";
import { startSilentLlamaServer, type SilentLlamaServer } from "../support/silentLlamaServer";
import { activated, configure } from "./support";

/** Turns of the event loop after which somebody gives up: from at once to when most of it is done. */
const points = [0, 2, 8, 32, 256, 2048];

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await new Promise((resolve) => setImmediate(resolve));
}

interface Try {
  readonly command: string;
  readonly args?: readonly unknown[];
  readonly cancel: string;
}

const closePick = "workbench.action.closeQuickOpen";
const cancelled = { command: "estimateWorkspace", cancel: "llamaGauge.cancel" } as const;
const comparison = { flag: "-ctk", values: ["f16", "q8_0"], depth: 512 };

const tries: Readonly<Record<string, readonly Try[]>> = {
  // what is there is looked for
  "no server": [
    cancelled,
    { command: "estimateWorkspace", cancel: "llamaGauge.estimateWorkspace" },
    { command: "chooseServer", cancel: closePick },
    { command: "chooseModel", cancel: closePick },
    { command: "setApiKey", cancel: closePick },
  ],
  // what is asked does not come
  "a silent server": [
    cancelled,
    { command: "estimateGitChanges", cancel: closePick },
    { command: "showMemoryBudget", cancel: "workbench.action.closeActiveEditor" },
    { command: "runDepthProbe", cancel: "llamaGauge.cancelMeasurement" },
    { command: "compareKvCacheTypes", args: [comparison], cancel: "llamaGauge.cancelMeasurement" },
  ],
};

describe("a command that is cancelled, whenever that is", function () {
  this.timeout(180_000);
  const unheard: string[] = [];
  const hear = (reason: unknown): void => {
    unheard.push(reason instanceof Error ? (reason.stack ?? reason.message) : String(reason));
  };
  let silent: SilentLlamaServer;

  before(async () => {
    await activated();
    silent = await startSilentLlamaServer();
    process.on("unhandledRejection", hear);
  });
  after(async () => {
    process.off("unhandledRejection", hear);
    await silent.stop();
    await configure({ "server.url": undefined });
    await commands.executeCommand("workbench.action.closeAllEditors");
  });

  /** What nobody hears is known a turn after it failed. */
  async function nothingUnheard(): Promise<void> {
    await turns(3);
    assert.deepEqual(unheard, []);
  }

  for (const [server, commandsTried] of Object.entries(tries)) {
    describe(server, () => {
      before(() => configure({ "server.url": server === "no server" ? undefined : silent.url }));

      for (const { command, args = [], cancel } of commandsTried) {
        it(`${command}, ended by ${cancel}`, async () => {
          for (const point of points) {
            const running = commands.executeCommand(`llamaGauge.${command}`, ...args);
            await turns(point);
            await commands.executeCommand(cancel);
            // what came back meanwhile, a list or an estimate, ends as well
            const ended = Promise.resolve(running).then(() => true);
            while (!(await Promise.race([ended, turns(1).then(() => false)]))) {
              for (const other of [closePick, "llamaGauge.cancel", "llamaGauge.cancelMeasurement"])
                await commands.executeCommand(other);
            }
          }
          await nothingUnheard();
        });
      }

      it("what a language model asks", async () => {
        const root = workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
        for (const point of points) {
          const source = new CancellationTokenSource();
          const input = { paths: [path.join(root, "src")] };
          const asked = lm.invokeTool(
            "llamaGauge_estimate_context",
            { input, toolInvocationToken: undefined },
            source.token,
          );
          await turns(point);
          source.cancel();
          await Promise.resolve(asked).catch(() => undefined);
          source.dispose();
        }
        await nothingUnheard();
      });
    });
  }
});
