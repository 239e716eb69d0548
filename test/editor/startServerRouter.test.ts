import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { commands, Uri, workspace } from "vscode";
import { forgedModel } from "../support/forge/forgeModel";
import { postJson } from "../support/postJson";
import { startRouter, type RouterServer } from "../support/routerServer";
import { activated, configure, diagnostic, estimated, until } from "./support";

const contexts: Readonly<Record<string, number>> = { long: 1024, short: 512 };

describe("a router with several models, in VS Code", function () {
  this.timeout(180_000);
  let folder: string;
  let router: RouterServer;

  before(async () => {
    await activated();
    folder = mkdtempSync(path.join(tmpdir(), "lg-router-"));
    const preset = path.join(folder, "models.ini");
    const model = await forgedModel();
    const sections = Object.entries(contexts).map(
      ([name, context]) => `[${name}]\nm = ${model}\nc = ${context}\nnp = 1\n`,
    );
    writeFileSync(preset, sections.join(""));
    router = await startRouter(folder, ["--models-preset", preset]);
    await configure({ showPanelOnEstimate: false });
  });
  after(async () => {
    await configure({ "server.url": undefined, "server.model": undefined, showPanelOnEstimate: undefined });
    await router.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function loaded(): Promise<number> {
    const reply = await fetch(`${router.url}/models`);
    const { data } = (await reply.json()) as {
      readonly data: readonly { readonly status: { readonly value: string } }[];
    };
    return data.filter(({ status }) => status.value === "loaded").length;
  }

  const chosen = (): string => workspace.getConfiguration("llamaGauge").get("server.model", "");

  /** Chooses a row of the list that is open: the first, or the one `moves` below it if the list was open by then. */
  async function accept(moves: number): Promise<void> {
    for (let move = 0; move < moves; move++) {
      await commands.executeCommand("workbench.action.quickOpenSelectNext");
    }
    await commands.executeCommand("workbench.action.acceptSelectedQuickOpenItem");
  }

  it("asks which one is meant, and the estimate is about that one", async () => {
    for (const model of Object.keys(contexts)) await postJson(`${router.url}/models/load`, { model });
    await until("both models", async () => ((await loaded()) === 2 ? true : undefined), 120_000);
    const seen = new Set<string>();
    for (let round = 0; seen.size < 2 && round < 8; round++) {
      await configure({ "server.model": undefined });
      const choosing = commands.executeCommand("llamaGauge.chooseServer", router.url);
      await until("the choice", async () => {
        await accept(round % 2);
        return chosen() === "" ? undefined : true;
      });
      await choosing;
      seen.add(chosen());
      const readme = Uri.joinPath(workspace.workspaceFolders?.[0]?.uri ?? Uri.file(folder), "README.md");
      await estimated("llamaGauge.estimate", readme, [readme]);
      const acceptance = (await diagnostic("Acceptance")) as { readonly nCtxPerSlot: number | null };
      assert.equal(acceptance.nCtxPerSlot, contexts[chosen()]);
    }
    assert.deepEqual([...seen].sort(), ["long", "short"]);
    assert.equal(workspace.getConfiguration("llamaGauge").get("server.url"), router.url);
  });

  it("changes nothing where the user thinks better of it", async () => {
    const before = chosen();
    const choosing = commands.executeCommand("llamaGauge.chooseServer", router.url);
    let done = false;
    void choosing.then(() => (done = true));
    await until("the end of the choice", async () => {
      await commands.executeCommand("workbench.action.closeQuickOpen");
      return done ? true : undefined;
    });
    assert.equal(chosen(), before);
  });
});
