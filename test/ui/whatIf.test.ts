import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { forgedModel } from "../support/forge/forgeModel";
import { llamaCppFolder } from "../support/llamaCpp";
import { openWorkbench, screenshotWhenFailed, type Workbench } from "./support/workbench";

let folder: string;
let workbench: Workbench;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "lg-what-if-"));
  const preset = `[tiny]\nmodel = ${await forgedModel()}\nctx-size = 4096\nparallel = 1\n`;
  await writeFile(path.join(folder, "my.llama.ini"), preset);
  workbench = await openWorkbench({
    vsix: [inject("vsix")],
    open: folder,
    size: { width: 1280, height: 1100 },
    settings: {
      "llamaGauge.llamaCppFolder": await llamaCppFolder(),
      "task.saveBeforeRun": "never",
      "files.autoSave": "off",
    },
  });
});
afterAll(async () => {
  await workbench.close();
  await rm(folder, { recursive: true, force: true });
});
screenshotWhenFailed(() => workbench);

describe("what-if on a server that was started from a preset, in the packaged extension", () => {
  it("begins with the budget, without any file", async () => {
    await workbench.openFile("my.llama.ini");
    await workbench.page.locator(".view-line", { hasText: "parallel" }).first().click();
    await workbench.runCommand("Llama Gauge: Start llama-server");
    await workbench.notification(/is up at http:.*4,096 tokens per request/).waitFor();
    await workbench.closeNotifications();
    await workbench.runCommand("Llama Gauge: Show Memory Budget");
    const memory = workbench.webview().getByRole("region", { name: "Memory" });
    await memory.getByText("Context 4,096 tokens, one slot.").waitFor();
    await memory.getByText(/llama-server \(process \d+\) holds/).waitFor();
    await workbench.statusBarItem().filter({ hasText: "4K" }).waitFor();
  });

  it("shows acceptance and memory of other options at once, as a what-if", async () => {
    const panel = workbench.webview();
    const memory = panel.getByRole("region", { name: "Memory" });
    await memory.getByRole("combobox", { name: "slots -np" }).selectOption("2");
    await panel.getByText("What if: -np 2").waitFor();
    await memory.getByText("2,048 tokens for one request").waitFor();
    await memory.getByRole("slider", { name: "context -c" }).press("End");
    await panel.getByText(/What if: -c \d+ -np 2/).waitFor();
    // the server and everything drawn from it are as they were
    await workbench.statusBarItem().filter({ hasText: "4K" }).waitFor();
    await memory.getByText("Every context with every KV type").click();
    const table = memory.getByRole("table", { name: "Context and KV type" });
    await table.getByRole("row", { name: /^q8_0/ }).waitFor();
    await workbench.screenshot("memory/window-what-if");
  });

  it("copies the options, and edits the preset without saving it", async () => {
    const { page } = workbench;
    const panel = workbench.webview();
    await panel.getByRole("button", { name: "Copy options" }).click();
    const copied = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());
    await expect.poll(copied).toMatch(/^-c \d+ -np 2$/);
    await panel.getByRole("button", { name: "Put into preset" }).click();
    await page.locator(".view-line", { hasText: /parallel.*=.*2/ }).waitFor();
    await page.locator(".tab.dirty", { hasText: "my.llama.ini" }).waitFor();
  });

  it("restarts the server it started, and then nothing is left to try", async () => {
    const { page } = workbench;
    await workbench.runCommand("Llama Gauge: Show Panel");
    const panel = workbench.webview();
    await panel.getByRole("button", { name: "Restart server" }).click();
    await page.getByRole("button", { name: "Start it again" }).click();
    await panel.getByText(/Context [\d,]+ tokens, 2 slots of/).waitFor();
    await panel.getByText("What if:").waitFor({ state: "detached" });
  });
});
