import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, inject, it } from "vitest";
import { forgedModel } from "../support/forge/forgeModel";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { repository } from "../support/repository";
import { openWorkbench, screenshotWhenFailed, type Workbench } from "../ui/support/workbench";
import { drawnPanel } from "./drawnPanel";

/**
 * The README's picture, and the same drawn with characters for the page of the extension. Every figure is measured: sources of this
 * project, a real llama-server without a GPU, a model with random weights. For a clean measurement nothing else should run.
 */

const folders = ["acceptance", "protocol"];
const scene = "Two folders of code, a model with random weights, no GPU";
const width = 1280;
const media = path.join(repository, "media");

let folder: string;
let server: LlamaServerProcess;
let workbench: Workbench;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "lg-picture-"));
  const opened = path.join(folder, "llama-gauge");
  for (const part of folders)
    await cp(path.join(repository, "src/core", part), path.join(opened, part), { recursive: true });
  server = await startLlamaServer({
    model: await forgedModel({ size: "roomy", vocabulary: "qwen2_5", contextLength: 131_072 }),
    args: ["-c", "131072", "-np", "8", "--alias", "random-weights"],
  });
  workbench = await openWorkbench({
    vsix: [inject("vsix")],
    open: opened,
    size: { width, height: 1900 },
    settings: { "llamaGauge.server.url": server.url, "llamaGauge.probeSeconds": 120 },
  });
});
afterAll(async () => {
  await workbench.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});
screenshotWhenFailed(() => workbench);

it("draws the README's picture: a verdict, full memory and a measured wait", async () => {
  const { page } = workbench;
  const panel = workbench.webview();
  await workbench.statusBarItem().waitFor();
  await workbench.setTheme("dark");
  await workbench.contextMenu(folders, "Llama Gauge: Estimate Context Cost");
  await panel.getByRole("heading", { level: 1 }).waitFor();
  await workbench.togglePane("llama-gauge", false);
  await workbench.togglePane("Tokens", true);
  const rows = workbench.pane("Tokens").locator(".monaco-list-row");
  for (const name of folders)
    await rows
      .filter({ hasText: new RegExp(`^${name}\\d`) })
      .locator(".monaco-tl-twistie")
      .click();
  await workbench.runCommand("Llama Gauge: Run Depth Probe");
  const wait = panel.getByRole("region", { name: "Wait" });
  await wait.locator(".answer").filter({ hasText: "probed to" }).waitFor({ timeout: 300_000 });
  await wait.locator(".notice.measuring").waitFor({ state: "hidden" });
  await workbench.closeNotifications();
  await page.mouse.move(800, 20);
  await page.locator(".monaco-hover").first().waitFor({ state: "hidden" });

  // the window ends below the card with the wait
  const box = await wait.boundingBox();
  if (box === null) throw new Error("no wait to be seen");
  const statusBar = 22;
  await page.setViewportSize({ width, height: Math.ceil(box.y + box.height) + 14 + statusBar });
  await page.screenshot({ path: path.join(media, "screenshot.png"), animations: "disabled" });
  await writeFile(path.join(media, "screenshot.drawn.md"), await drawnPanel(panel, scene));
});
