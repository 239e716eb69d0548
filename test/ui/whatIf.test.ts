import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Locator } from "playwright-core";
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

const memory = (): Locator => workbench.webview().getByRole("region", { name: "Memory" });
const slots = (): Locator => memory().getByRole("combobox", { name: "slots -np" });

/** The budget of the server that runs, with nothing tried on it. */
async function budget(): Promise<void> {
  await workbench.runCommand("Llama Gauge: Show Memory Budget");
  // what an earlier test tried comes back with the page: so that there is something to take back, whatever it was
  await slots().selectOption("8");
  const reset = workbench.webview().getByRole("button", { name: "Reset", exact: true });
  await reset.click();
  await reset.waitFor({ state: "detached" });
}

/** Twice the slots, and all the context the model was trained for. */
async function tryOthers(): Promise<void> {
  await budget();
  await slots().selectOption("2");
  await memory().getByRole("slider", { name: "context -c" }).press("End");
  await workbench
    .webview()
    .getByText(/What if: -c \d+ -np 2/)
    .waitFor();
}

describe("what-if on a server that was started from a preset, in the packaged extension", () => {
  it("begins with the budget, without any file", async () => {
    const { page } = workbench;
    await workbench.openFile("my.llama.ini");
    await page.locator(".view-line", { hasText: "parallel" }).first().click();
    await workbench.runCommand("Llama Gauge: Start llama-server");
    const up = workbench.notification(/is running at http:.*4,096 tokens per request/);
    const again = page.getByRole("button", { name: "Start it again" });
    await up.or(again).first().waitFor();
    if ((await again.count()) > 0) await again.click();
    await up.waitFor();
    await workbench.closeNotifications();
    await budget();
    await memory().getByText("Context 4,096 tokens, one slot.").waitFor();
    await memory()
      .getByText(/llama-server \(process \d+\) uses/)
      .waitFor();
    await workbench.statusBarItem().filter({ hasText: "4K" }).waitFor();
  });

  it("shows acceptance and memory of other options at once, as a what-if", async () => {
    await budget();
    await slots().selectOption("2");
    await workbench.webview().getByText("What if: -np 2").waitFor();
    await memory().getByText("2,048 tokens per request").waitFor();
    await tryOthers();
    // the server and everything drawn from it are as they were
    await workbench.statusBarItem().filter({ hasText: "4K" }).waitFor();
    const table = memory().getByRole("table", { name: "Context and KV type" });
    if ((await table.count()) === 0) await memory().getByText("Every context with every KV type").click();
    await table.getByRole("row", { name: /^q8_0 \/ q4_0/ }).waitFor();
    await workbench.screenshot("memory/window-what-if");
  });

  it("copies the options, and edits the preset without saving it", async () => {
    const { page } = workbench;
    await tryOthers();
    const panel = workbench.webview();
    await panel.getByRole("button", { name: "Copy options" }).click();
    const copied = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());
    await expect.poll(copied).toMatch(/^-c \d+ -np 2$/);
    await panel.getByRole("button", { name: "Put into preset" }).click();
    await page.locator(".view-line", { hasText: /parallel.*=.*2/ }).waitFor();
    await page.locator(".tab.dirty", { hasText: "my.llama.ini" }).waitFor();
  });

  it("restarts the server it started, and then nothing is left to try", async () => {
    await budget();
    const others = (await slots().inputValue()) === "2" ? "4" : "2";
    await slots().selectOption(others);
    const panel = workbench.webview();
    await panel.getByRole("button", { name: "Restart server" }).click();
    await workbench.page.getByRole("button", { name: "Start it again" }).click();
    await panel.getByText(new RegExp(`Context [\\d,]+ tokens, ${others} slots of`)).waitFor();
    await panel.getByText("What if:").waitFor({ state: "detached" });
  });
});
