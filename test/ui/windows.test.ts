import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openWindow, openWorkbench, screenshotWhenFailed, Workbench } from "./support/workbench";
import { workbenchUrl } from "../support/vscodeHost/workbenchUrl";

/** Two windows of one VS Code: one on a folder of this machine, one on files that are on no disk. */

let onDisk: Workbench;
let onNoDisk: Workbench;

beforeAll(async () => {
  onDisk = await openWorkbench({ vsix: [inject("vsix")] });
  const file = path.join(path.dirname(onDisk.workspace), "virtual.code-workspace");
  // the browser's own file system, in which VS Code keeps the user's settings
  await writeFile(file, JSON.stringify({ folders: [{ uri: "vscode-userdata:/User", name: "virtual" }] }));
  const page = await onDisk.page.context().newPage();
  page.setDefaultTimeout(45_000);
  await openWindow(page, workbenchUrl(onDisk.server.origin, { open: file }), true);
  onNoDisk = Object.assign(Object.create(Workbench.prototype) as Workbench, onDisk, { page });
});
afterAll(() => onDisk.close());
screenshotWhenFailed(() => onNoDisk);

describe("a window on files that are on no disk", () => {
  it("says what is limited, and offers what is possible", async () => {
    await onNoDisk.statusBarItem().waitFor();
    await onNoDisk.togglePane("Tokens", true);
    const welcome = onNoDisk.page.locator(".welcome-view-content", {
      hasText: "This is a virtual workspace",
    });
    await welcome.waitFor();
    await onNoDisk.screenshot("virtual");
    await onNoDisk.findCommand("Llama Gauge: Estimate Open Editors");
    const input = onNoDisk.page.locator(".quick-input-widget input").first();
    await input.fill(">Llama Gauge: Estimate ");
    await onNoDisk.quickPickRow("Llama Gauge: Estimate Open Editors").waitFor();
    await expect.poll(() => onNoDisk.quickPickRow("Llama Gauge: Estimate Workspace").count()).toBe(0);
    await onNoDisk.page.keyboard.press("Escape");
  });

  it("estimates open editors, and leaves the other window alone", async () => {
    await onNoDisk.runCommand("Preferences: Open User Settings (JSON)");
    await onNoDisk.page.locator(".tab.active", { hasText: "settings.json" }).waitFor();
    await onNoDisk.runCommand("Llama Gauge: Estimate Open Editors");
    const tokens = /[\d,]+ tokens/;
    await onNoDisk.statusBarItem().filter({ hasText: tokens }).waitFor();
    await expect.poll(() => onDisk.statusBarItem().innerText()).not.toMatch(tokens);
    await onDisk.contextMenu(["src"], "Llama Gauge: Estimate Context Cost");
    await onDisk.statusBarItem().filter({ hasText: tokens }).waitFor();
    await expect
      .poll(() => onDisk.statusBarItem().innerText())
      .not.toBe(await onNoDisk.statusBarItem().innerText());
  });
});
