import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { formatNumber } from "../../src/core/format";
import { forgedModel } from "../support/forge/forgeModel";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { openWorkbench, screenshotWhenFailed, type Workbench } from "./support/workbench";

let server: LlamaServerProcess;
let workbench: Workbench;

beforeAll(async () => {
  server = await startLlamaServer({ model: await forgedModel(), args: ["-c", "1024", "-np", "1"] });
  workbench = await openWorkbench({
    vsix: [inject("vsix")],
    size: { width: 1280, height: 1000 },
    settings: {
      "llamaGauge.server.url": server.url,
      "llamaGauge.answerReserveTokens": 200,
      // a click selects a folder and does not open it: rows stay where they are while the test points at them
      "workbench.tree.expandMode": "doubleClick",
    },
  });
});
afterAll(async () => {
  await workbench.close();
  await server.stop();
});
screenshotWhenFailed(() => workbench);

/** "912" of "Fits. 912 of 1,024 tokens". */
const tokensIn = (heading: string): string => /([\d,]+) of /.exec(heading)?.[1] ?? "none";

describe("a prompt that does not fit, in the packaged extension with a real llama-server", () => {
  it("fits after Drop files to fit, in panel, tree and status bar", async () => {
    await workbench.statusBarItem().waitFor();
    await workbench.contextMenu(["src", "docs", "package-lock.json"], "Llama Gauge: Estimate Context Cost");
    const panel = workbench.webview();
    await panel.getByRole("heading", { level: 1, name: /^Does not fit/ }).waitFor();
    await panel.getByText("Drop files to fit").click();
    const fits = panel.getByRole("heading", { level: 1, name: /^Fits\. [\d,]+ of 1,024/ });
    await fits.waitFor();
    const left = tokensIn(await fits.innerText());
    await workbench
      .statusBarItem()
      .filter({ hasText: `${left} / ${formatNumber(1024)} tokens` })
      .waitFor();
    await panel.getByText("files are in the prompt.").waitFor();
    await workbench.screenshot("drop-to-fit");
  });

  it("can be chosen file by file in the tree, and the panel follows", async () => {
    const { page } = workbench;
    await workbench.togglePane("harbour", false);
    await workbench.togglePane("Tokens", true);
    const rows = workbench.pane("Tokens").locator(".monaco-list-row");
    const lock = rows.filter({ hasText: "package-lock.json" });
    await lock.filter({ hasText: "lock file" }).waitFor();
    const box = lock.locator(".monaco-custom-toggle, [role=checkbox]").first();
    await expect.poll(() => box.getAttribute("aria-checked")).toBe("false");
    const room = workbench.webview().getByRole("region", { name: "Room" });
    const before = await room.getByText("files are in the prompt.").innerText();
    await box.click();
    await page.mouse.move(800, 500);
    await room.getByText("files are in the prompt.").filter({ hasNotText: before }).waitFor();
    // counted again by itself: no "≈" is left
    await workbench
      .webview()
      .getByRole("heading", { level: 1, name: /^(Fits|Tight|Does not fit)\. [\d,]+ of/ })
      .waitFor();
  });
});
