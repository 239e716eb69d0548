import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { formatBytes, formatNumber } from "../../src/core/format";
import { forgedModel } from "../support/forge/forgeModel";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { startSilentLlamaServer } from "../support/silentLlamaServer";
import { check, type CheckResult } from "./support/commandLine";
import {
  openWorkbench,
  screenshotFolder,
  screenshotWhenFailed,
  type Theme,
  type Workbench,
} from "./support/workbench";

const nCtx = 8192;
const folders = ["docs", "native", "src"];

let server: LlamaServerProcess;
let workbench: Workbench;
let expected: CheckResult;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "saved-"));
  const model = await forgedModel({ vocabulary: "qwen2_5" });
  server = await startLlamaServer({ model, args: ["-c", String(nCtx), "-np", "1"] });
  workbench = await openWorkbench({
    vsix: [inject("vsix")],
    size: { width: 1280, height: 1000 },
    // a click selects a folder and does not open it: rows stay where they are while the test points at them
    settings: { "llamaGauge.server.url": server.url, "workbench.tree.expandMode": "doubleClick" },
  });
  const paths = folders.map((name) => path.join(workbench.workspace, name));
  expected = await check([...paths, "--server", server.url]);
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await workbench.close();
  await server.stop();
});
screenshotWhenFailed(() => workbench);

const tokens = (value: number): string => formatNumber(value);

describe("right-click, estimate, in the packaged extension with a real llama-server", () => {
  it("offers the command on folders", async () => {
    await workbench.statusBarItem().waitFor();
    const entry = await workbench.openContextMenu(folders, "Llama Gauge: Estimate Context Cost");
    await workbench.screenshot("explorer-menu");
    await workbench.choose(entry);
  });

  it("shows the same numbers in the status bar as the command line", async () => {
    const { promptTokens, nCtxPerSlot } = expected.acceptance;
    expect(nCtxPerSlot).toBe(nCtx);
    const text = `${tokens(promptTokens)} / ${tokens(nCtx)} tokens`;
    await workbench.statusBarItem().filter({ hasText: text }).waitFor();
    const label = workbench.statusBarItem().locator("a").first();
    await expect
      .poll(() => label.getAttribute("aria-label"))
      .toContain(`Fits. ${tokens(promptTokens)} of ${tokens(nCtx)} tokens`);
  });

  it("shows the same numbers in the panel", async () => {
    const panel = workbench.webview();
    const { parts, promptTokens, answerRoom } = expected.acceptance;
    const heading = panel.getByRole("heading", { level: 1 });
    await heading.filter({ hasText: `Fits. ${tokens(promptTokens)} of ${tokens(nCtx)} tokens` }).waitFor();
    await panel
      .getByText(
        `Prompt ${tokens(promptTokens)} = files ${tokens(parts.files)} + packing ${tokens(parts.packing)} + chat template ${tokens(parts.template)}.`,
      )
      .waitFor();
    await panel.locator(".facts", { hasText: tokens(answerRoom ?? -1) }).waitFor();
    const room = panel.getByRole("region", { name: "Room" });
    await room.getByRole("button", { name: "Table" }).click();
    const rows = room.getByRole("table", { name: "Files by tokens" }).getByRole("row");
    const shown = async (): Promise<string[][]> =>
      (await rows.allInnerTexts()).slice(1).map((row) => row.split(/\s*\t\s*/).slice(0, 2));
    const files = expected.tokens.files.toSorted((a, b) => b.tokens - a.tokens);
    expect(files.length).toBeGreaterThan(3);
    await expect.poll(shown).toEqual(files.map((file) => [file.path, tokens(file.tokens)]));
    await room.getByRole("button", { name: "Picture" }).click();
  });

  it("shows the same memory in the panel", async () => {
    const { memory } = expected;
    if (!memory.known) throw new Error("the command line knows no memory");
    const card = workbench.webview().getByRole("region", { name: "Memory" });
    await card.getByText(`${formatBytes(memory.totalBytes)} in total`).waitFor();
    for (const device of memory.devices) {
      await card.getByText(formatBytes(device.totalBytes), { exact: true }).first().waitFor();
    }
  });

  it("shows the same numbers in the token tree, folders and files", async () => {
    const { page } = workbench;
    // the folder's own tree makes room
    await workbench.togglePane(path.basename(workbench.workspace), false);
    await workbench.togglePane("Tokens", true);
    await page.mouse.move(800, 500);
    const pane = workbench.pane("Tokens");
    await pane.locator(".pane-header", { hasText: `${tokens(expected.tokens.tokens)} tokens` }).waitFor();
    const rows = pane.locator(".monaco-list-row");
    for (const folder of folders) {
      const inside = expected.tokens.files.filter((file) => file.path.startsWith(`${folder}/`));
      const sum = inside.reduce((total, file) => total + file.tokens, 0);
      const row = rows.filter({ has: page.locator(".label-name", { hasText: new RegExp(`^${folder}$`) }) });
      await row.filter({ hasText: `${tokens(sum)} · ` }).dblclick();
      for (const file of inside) {
        await rows
          .filter({ hasText: path.basename(file.path) })
          .filter({ hasText: `${tokens(file.tokens)} · ` })
          .waitFor();
      }
    }
    expect(expected.tokens.skipped.length).toBeGreaterThan(0);
    await rows
      .filter({ hasText: "Not counted" })
      .filter({ hasText: String(expected.tokens.skipped.length) })
      .waitFor();
  });

  it.each(["light", "dark", "highContrast", "highContrastLight"] satisfies Theme[])(
    "looks right in %s",
    async (theme) => {
      await workbench.setTheme(theme);
      // a pointer that rests on the item since the last theme opens no hover
      await workbench.page.mouse.move(800, 20);
      await workbench.statusBarItem().hover();
      await workbench.page.locator(".monaco-hover", { hasText: "Chat template" }).first().waitFor();
      await workbench.screenshot(`main-job-${theme}`);
      await workbench.page.keyboard.press("Escape");
      expect(workbench.server.extensionHostEnds()).toEqual([]);
    },
  );

  it("saves the picture of a card, drawn in VS Code's own frame", async () => {
    const { page } = workbench;
    const room = workbench.webview().getByRole("region", { name: "Room" });
    const saved = async (kind: "png" | "svg"): Promise<Buffer> => {
      const file = path.join(await mkdtemp(path.join(folder, "empty-")), `room.${kind}`);
      await room.getByRole("button", { name: "Save picture as SVG or PNG" }).click();
      const input = page.locator(".quick-input-box input");
      await input.waitFor();
      // the editor offers its own place first
      await expect.poll(() => input.inputValue()).toContain("llama-gauge-room");
      const ok = page.locator(".quick-input-widget").getByRole("button", { name: "OK" });
      // it goes to the folder first and takes no name before; what was typed too early it puts back
      const written = async (): Promise<boolean> => {
        if (!existsSync(file) && (await input.isVisible())) {
          if ((await input.inputValue()) !== file) await input.fill(file);
          else await ok.click();
        }
        return existsSync(file);
      };
      await expect.poll(written, { timeout: 20_000, interval: 500 }).toBe(true);
      return readFile(file);
    };
    const svg = (await saved("svg")).toString("utf8");
    const png = await saved("png");
    expect(svg).toContain("tides.ts");
    const [, width, height] = /width="(\d+)" height="(\d+)"/.exec(svg) ?? [];
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([2 * Number(width), 2 * Number(height)]);
    // a picture of one colour only would be much smaller
    expect(png.length).toBeGreaterThan(20_000);
    await mkdir(screenshotFolder, { recursive: true });
    await writeFile(path.join(screenshotFolder, "main-job-saved.png"), png);
  });

  it("opens a file from the panel", async () => {
    await workbench.webview().locator(".tile.file", { hasText: "tides.ts" }).click();
    await workbench.page.locator(".tab.active", { hasText: "tides.ts" }).waitFor();
  });

  it("counts by itself what is typed, saved or not", async () => {
    const { page } = workbench;
    await page.locator(".monaco-editor").first().click();
    await page.keyboard.type("// a change\n");
    const before = `${tokens(expected.acceptance.promptTokens)} / `;
    await workbench.statusBarItem().filter({ hasNotText: before }).filter({ hasText: "tokens" }).waitFor();
    await workbench.runCommand("File: Save");
    const paths = folders.map((name) => path.join(workbench.workspace, name));
    const { acceptance } = await check([...paths, "--server", server.url]);
    const text = `${tokens(acceptance.promptTokens)} / ${tokens(nCtx)} tokens`;
    await workbench.statusBarItem().filter({ hasText: text }).filter({ hasNotText: "(stale)" }).waitFor();
  });
});

describe("an estimate that takes long, with the panel closed", () => {
  it("shows a notification that can cancel it, and leaves nothing behind", async () => {
    const silent = await startSilentLlamaServer();
    try {
      await workbench.runCommand("View: Close All Editors");
      await workbench.configure({ "llamaGauge.showPanelOnEstimate": false });
      await workbench.configureMachine({ "llamaGauge.server.url": silent.url });
      await workbench.diagnostics(silent.url);
      await workbench.runCommand("Llama Gauge: Estimate Workspace");
      const toast = workbench.notification("Counting the tokens of harbour");
      await toast.waitFor();
      await workbench.screenshot("progress");
      await toast.hover();
      await toast.getByRole("button", { name: "Cancel" }).click();
      await toast.waitFor({ state: "hidden" });
      await workbench.statusBarItem().filter({ hasText: "(stale)" }).waitFor();
      await expect.poll(silent.waiting).toBe(0);
    } finally {
      await silent.stop();
    }
  });
});
