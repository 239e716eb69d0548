import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { forgedRecallModel } from "../support/forge/recallModel";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { openWorkbench, screenshotWhenFailed, type Workbench } from "./support/workbench";

const plan = `rungs: [900]
baseTokens: 600
repetitions: 1
canaries: { target: 3, other: 3 }
constraints: false
answerTokens: 160
criteria: { perRun: 3, pooled: 3 }
`;
const patience = 240_000;

let folder: string;
let server: LlamaServerProcess;
let workbench: Workbench;

beforeAll(async () => {
  server = await startLlamaServer({
    model: await forgedRecallModel({ window: 1000 }),
    args: ["-c", "4096", "-np", "1", "-t", "1"],
  });
  folder = await mkdtemp(path.join(os.tmpdir(), "lg-ladder-"));
  await writeFile(path.join(folder, "short.ladder.yaml"), plan);
  workbench = await openWorkbench({
    open: folder,
    vsix: [inject("vsix")],
    size: { width: 1280, height: 1000 },
    settings: { "llamaGauge.server.url": server.url },
  });
});
afterAll(async () => {
  await workbench.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});
screenshotWhenFailed(() => workbench);

describe("a ladder from its plan to its verdict, in the packaged extension with a real llama-server", () => {
  it(
    "says what it costs, runs, and shows the verified window",
    async () => {
      const { page } = workbench;
      await workbench.openFile("short.ladder.yaml");
      await page.locator(".editor-actions").getByRole("button", { name: "Run Ladder" }).first().click();
      const dialog = page.locator(".monaco-dialog-box");
      await dialog.filter({ hasText: "3 runs up to 900 tokens" }).waitFor();
      await workbench.screenshot("ladder-cost");
      await dialog.getByRole("button", { name: "Start" }).click();
      const done = workbench.notification("passed 900 tokens");
      await done.waitFor({ timeout: patience });
      await done.hover();
      await done.getByRole("button", { name: "Show" }).click();
      const card = workbench.webview().locator("#ladder");
      await card.getByRole("heading", { name: "Verified window: 900 tokens, 1 of 1 run passed" }).waitFor();
      await card.getByRole("button", { name: "Table" }).click();
      const rows = card.getByRole("table", { name: "Ladder by length" }).getByRole("row");
      await expect.poll(() => rows.nth(2).innerText()).toMatch(/^900\s+target\s+3\/3\s/);
      await card.getByRole("button", { name: "Picture" }).click();
      for (const theme of ["light", "dark"] as const) {
        await workbench.setTheme(theme);
        await workbench.screenshot(`ladder-${theme}`);
      }
    },
    patience + 60_000,
  );

  it("is there again after the window was loaded anew", async () => {
    await workbench.page.reload();
    await workbench.statusBarItem().waitFor();
    // whether the view is open again is VS Code's to say
    await workbench.runCommand("Llama Gauge: Show Panel");
    const card = workbench.webview().locator("#ladder");
    await card.getByRole("heading", { name: /^Verified window: 900 tokens/ }).waitFor();
  });

  it("tells why a long prompt fails, asking only what it cannot read", async () => {
    const { page } = workbench;
    await workbench.runCommand("Llama Gauge: Why Does My Long Context Fail?");
    await workbench.quickPickRow("It is rejected as too long").waitFor();
    await workbench.acceptRow("It is rejected as too long");
    // the context is the server's own answer, so only the prompt is asked for
    const input = page.locator(".quick-input-widget input").first();
    await page.locator(".quick-input-widget", { hasText: "How many tokens does the prompt have" }).waitFor();
    await input.fill("9K");
    await page.keyboard.press("Enter");
    const text = workbench
      .webview()
      .getByText("The prompt has 9,216 tokens; one request may hold fewer than 4,096.");
    await text.waitFor();
    await workbench.screenshot("ladder-diagnosis");
  });
});
