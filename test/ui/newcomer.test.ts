import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { forgedModel } from "../support/forge/forgeModel";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { noOtherServer } from "./support/noOtherServer";
import { openWorkbench, screenshotWhenFailed, type Workbench } from "./support/workbench";

/** Somebody who has just installed the VSIX and has a llama-server running; nothing is configured. */

let server: LlamaServerProcess;
let workbench: Workbench;
let interactions = 0;

beforeAll(async () => {
  await noOtherServer();
  // slow enough that what else the machine does is little against a batch: else the probe finds nothing to predict with
  server = await startLlamaServer({
    model: await forgedModel({ size: "slope", vocabulary: "qwen2_5" }),
    args: ["-c", "4096", "-np", "1", "-t", "1", "-b", "256", "-ub", "256"],
  });
  workbench = await openWorkbench({
    vsix: [inject("vsix")],
    size: { width: 1280, height: 1000 },
    settings: { "files.simpleDialog.enable": true },
  });
});
afterAll(async () => {
  await workbench.close();
  await server.stop();
});
screenshotWhenFailed(() => workbench);

const card = (name: string): Locator => workbench.webview().getByRole("region", { name });
const heading = (text: RegExp): Locator => workbench.webview().getByRole("heading", { level: 1, name: text });

/** One click, one key or one choice. */
async function interact(act: Promise<void>): Promise<void> {
  interactions += 1;
  await act;
}

const step = (title: string): Locator => workbench.page.locator(".getting-started-step", { hasText: title });

async function openWalkthrough(): Promise<void> {
  await workbench.runCommand("Welcome: Open Walkthrough...");
  await workbench.acceptRow("Know before you send");
  await step("Make it fit").waitFor();
}

describe("a newcomer with a running server and nothing configured", () => {
  it("is offered a walkthrough of which nothing is done", async () => {
    await openWalkthrough();
    await expect.poll(() => workbench.page.locator(".codicon-getting-started-step-checked").count()).toBe(0);
    await workbench.screenshot("walkthrough");
  });

  it("has the first verdict after at most five interactions", async () => {
    interactions = 0;
    await workbench.statusBarItem().waitFor();
    await interact(workbench.explorerRow("src").click({ button: "right" }));
    const entry = workbench.menuEntry("Llama Gauge: Estimate Context Cost");
    await entry.waitFor();
    await interact(workbench.choose(entry));
    await heading(/^Fits\. [\d,]+ of [\d,]+ tokens/).waitFor();
    console.log(`  first verdict after ${interactions} interactions`);
    expect(interactions).toBeLessThanOrEqual(5);
  });

  it("has measured the wait after at most three more", async () => {
    const before = interactions;
    await interact(card("Wait").getByRole("button", { name: "Run depth probe" }).click());
    await heading(/ to first token \(/).waitFor({ timeout: 80_000 });
    console.log(`  measured after ${interactions - before} more`);
    expect(interactions - before).toBeLessThanOrEqual(3);
    await card("Wait").getByRole("img").first().waitFor();
    await workbench.screenshot("newcomer");
  });

  it("sees how far the walkthrough is done", async () => {
    await openWalkthrough();
    for (const title of ["Does it fit?", "Counted with your own model", "How long will I wait?"]) {
      await step(title).locator(".codicon-getting-started-step-checked").waitFor();
    }
    await step("Make it fit").locator(".codicon-getting-started-step-unchecked").waitFor();
  });

  it("saves a picture where the dialog says", async () => {
    await workbench.runCommand("Llama Gauge: Show Panel");
    for (const [extension, start] of [
      ["svg", "<svg "],
      ["png", "\x89PNG"],
    ] as const) {
      const file = path.join(workbench.workspace, `wait.${extension}`);
      // what another try has left would be there already, and asked about
      await rm(file, { force: true });
      await card("Wait").getByRole("button", { name: "Save picture as SVG or PNG" }).click();
      const input = workbench.page.locator(".quick-input-widget input").first();
      await expect.poll(() => input.inputValue(), { timeout: 20_000 }).toContain("llama-gauge-wait.svg");
      await input.fill(file);
      await workbench.page.keyboard.press("Enter");
      await expect
        .poll(() => readFile(file, "latin1").catch(() => ""), { timeout: 20_000 })
        .toMatch(new RegExp(`^${start}`));
    }
  });
});

describe("what a screen reader says", () => {
  it("has the verdict in the status bar", async () => {
    const label = workbench.statusBarItem().locator("a").first();
    await expect
      .poll(() => label.getAttribute("aria-label"))
      .toMatch(/Llama Gauge: Fits\. [\d,]+ of [\d,]+ tokens/);
  });

  it("has tokens and share in the rows of the tree", async () => {
    await workbench.togglePane("Tokens", true);
    const row = workbench.pane("Tokens").locator(".monaco-list-row").first();
    await row.waitFor();
    await expect
      .poll(() => row.getAttribute("aria-label"))
      .toMatch(/: [\d,]+ tokens( in [\d,]+ files)?, [\d.]+ % of the total/);
    const box = row.getByRole("checkbox");
    await expect.poll(() => box.getAttribute("aria-label")).toBe("Include src in the prompt");
  });
});
