/**
 * Drives a real VS Code with the packaged extension installed. In a test file:
 *
 *     let workbench: Workbench;
 *     beforeAll(async () => void (workbench = await openWorkbench({ vsix: [inject("vsix")], settings: {…} })));
 *     afterAll(() => workbench.close());
 *     screenshotWhenFailed(() => workbench);
 *
 *     await workbench.contextMenu(["src"], "Estimate Context Cost");
 *     await workbench.statusBarItem().filter({ hasText: "64K" }).waitFor();
 *     await workbench.webview().getByRole("button", { name: "…" }).click();
 *     await workbench.setTheme("highContrast");
 *     await workbench.screenshot("panel-high-contrast");        // out/screenshots/panel-high-contrast.png
 *
 * One start costs about ten seconds: open one workbench per file, not per test. Wait for conditions on `workbench.page`
 * (Playwright waits by itself), never for a time. Each workbench has a copy of the sample workspace and a fresh profile;
 * `startLlamaServer` of test/support/llamaCpp gives `settings: { "llamaGauge.server.url": server.url }`.
 */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Browser, FrameLocator, Locator, Page } from "playwright-core";
import { afterEach } from "vitest";
import { repository } from "../../support/repository";
import { launchBrowser } from "../../support/vscodeHost/browser";
import { extensionLog } from "../../support/vscodeHost/extensionLog";
import type { HostName } from "../../support/vscodeHost/installation";
import { writeMachineSettings } from "../../support/vscodeHost/profileSettings";
import { startVscodeServer, type VscodeServer } from "../../support/vscodeHost/vscodeServer";
import { workbenchUrl } from "../../support/vscodeHost/workbenchUrl";
import { writeLanguagePack } from "./displayLanguage";

export interface WorkbenchOptions {
  readonly vsix: readonly string[];
  readonly host?: HostName;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Folder or `.code-workspace` to open, used in place; default: a copy of the sample workspace. `null`: none. */
  readonly open?: string | null;
  /** Start in restricted mode: the folder is not trusted. */
  readonly workspaceTrust?: boolean;
  /** Display language of the extensions, e.g. `ja`; VS Code's own texts stay English. */
  readonly language?: string;
  readonly size?: { readonly width: number; readonly height: number };
  readonly env?: Readonly<Record<string, string>>;
}

export type Theme = "light" | "dark" | "highContrast" | "highContrastLight";

const themes: Readonly<Record<Theme, { readonly label: string; readonly class: string }>> = {
  light: { label: "Light Modern", class: "vs" },
  dark: { label: "Dark Modern", class: "vs-dark" },
  highContrast: { label: "Dark High Contrast", class: "hc-black" },
  highContrastLight: { label: "Light High Contrast", class: "hc-light" },
};

export const screenshotFolder = path.join(repository, "out/screenshots");

export class Workbench {
  constructor(
    readonly page: Page,
    readonly server: VscodeServer,
    /** The opened folder, or the empty string. */
    readonly workspace: string,
    private readonly browser: Browser,
    private readonly folder: string,
  ) {}

  /** Runs a command by its full title in the palette, e.g. `View: Toggle Problems`. */
  async runCommand(title: string): Promise<void> {
    await this.findCommand(title);
    await this.acceptRow(title);
  }

  /**
   * Chooses a row of the open quick pick by keyboard, when no more rows arrive: they would move it from under the pointer, and
   * take the focus back to a row that the extension has heard of.
   */
  async acceptRow(text: string): Promise<void> {
    const focused = this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: text });
    await this.quickPickRow(text).waitFor();
    await this.page
      .locator(".quick-input-widget .monaco-progress-container.active")
      .waitFor({ state: "detached" });
    for (let presses = 0; (await focused.count()) === 0; presses++) {
      if (presses === 50) throw new Error(`the quick pick does not come to ${text}`);
      await this.page.keyboard.press("ArrowDown");
    }
    await this.page.keyboard.press("Enter");
  }

  /** The palette's row of a command; the palette stays open (Escape closes it). */
  async findCommand(title: string): Promise<Locator> {
    const row = this.quickPickRow(title);
    const input = this.page.locator(".quick-input-widget input").first();
    for (let tries = 1; ; tries++) {
      // a panel that is still loading would swallow the key
      await this.page.evaluate(() => {
        if (document.activeElement instanceof HTMLIFrameElement) document.activeElement.blur();
      });
      await this.page.keyboard.press("F1");
      try {
        // soon again: what swallows the key is gone after a moment
        await input.waitFor({ timeout: 3000 });
        await input.fill(`>${title}`);
        await row.waitFor({ timeout: 15_000 });
        return row;
      } catch (error) {
        // a window that is still starting does not list all commands yet, and its panels may swallow a key
        if (tries === 6) throw error;
        await this.page.keyboard.press("Escape");
      }
    }
  }

  /** A row of the open quick pick (also the palette's). */
  quickPickRow(text: string): Locator {
    return this.page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first();
  }

  /** A row of the Explorer. Folders on the way must be open: see `expand`. */
  explorerRow(name: string): Locator {
    const label = this.page.locator(".label-name", { hasText: new RegExp(`^${escapeRegExp(name)}$`) });
    return this.page.locator(".explorer-folders-view .monaco-list-row").filter({ has: label });
  }

  async expand(folder: string): Promise<void> {
    const row = this.explorerRow(folder);
    if ((await row.getAttribute("aria-expanded")) === "false") await row.click();
    await this.page.locator('[aria-expanded="true"]').and(row).waitFor();
  }

  /** A view's pane in the side bar (the Explorer's folder, Outline, …), by its title. */
  pane(title: string): Locator {
    return this.page.locator(".pane", { has: this.page.locator(".pane-header", { hasText: title }) });
  }

  /** Opens or closes a pane; rows of a tree exist only while they are in sight, so close others to make room. */
  async togglePane(title: string, open: boolean): Promise<void> {
    const header = this.pane(title).locator(".pane-header").first();
    const wanted = this.page.locator(`[aria-expanded="${String(open)}"]`).and(header);
    await header.waitFor();
    if ((await wanted.count()) === 0) await header.click();
    await wanted.waitFor();
  }

  /** Opens the Explorer's context menu on the selected rows and gives the entry with this text. */
  async openContextMenu(names: readonly string[], entry: string): Promise<Locator> {
    const [first, ...others] = names;
    if (first === undefined) throw new Error("nothing to select");
    await this.explorerRow(first).click();
    for (const name of others) await this.explorerRow(name).click({ modifiers: ["ControlOrMeta"] });
    await this.explorerRow(names.at(-1) ?? first).click({ button: "right" });
    const item = this.menuEntry(entry);
    await item.waitFor();
    return item;
  }

  /** Right-clicks the rows of the Explorer and chooses an entry. */
  async contextMenu(names: readonly string[], entry: string): Promise<void> {
    const item = await this.openContextMenu(names, entry);
    await this.choose(item);
  }

  /** A menu that has just opened takes no click for a moment: until it closes, the entry is clicked again. */
  async choose(item: Locator): Promise<void> {
    for (let tries = 0; tries < 5; tries++) {
      // it may close while this waits for a moment to click
      await item.click({ timeout: 5000 }).catch(() => undefined);
      const closed = await item.waitFor({ state: "hidden", timeout: 2000 }).then(
        () => true,
        () => false,
      );
      if (closed) return;
    }
    throw new Error("the menu does not close");
  }

  menuEntry(text: string): Locator {
    return this.page.locator(".monaco-menu .action-item", { hasText: text }).first();
  }

  async openFile(name: string): Promise<void> {
    await this.explorerRow(name).dblclick();
    await this.page.locator(".tab.active", { hasText: name }).waitFor();
  }

  /** A status bar item of the extension, by the id given to `createStatusBarItem`. */
  statusBarItem(id = "llamaGauge.status"): Locator {
    return this.page.locator(`.statusbar-item[id="llama-gauge.llama-gauge.${id}"]`);
  }

  /** The document of the visible webview. */
  webview(): FrameLocator {
    return this.page.frameLocator("iframe.webview.ready").frameLocator("iframe#active-frame");
  }

  /** A notification toast with this text. */
  notification(text: string | RegExp): Locator {
    return this.page.locator(".notification-list-item", { hasText: text }).first();
  }

  async closeNotifications(): Promise<void> {
    await this.runCommand("Notifications: Clear All Notifications");
  }

  /** Changes user settings. VS Code's server does not watch their file, so it is saved once more in the window. */
  async configure(settings: Readonly<Record<string, unknown>>): Promise<void> {
    const file = path.join(this.server.userDataDir, "User/settings.json");
    const current = JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>;
    const text = JSON.stringify({ ...current, ...settings }, undefined, 2);
    await writeFile(file, text);
    await this.runCommand("Preferences: Open User Settings (JSON)");
    const tab = this.page.locator('[data-uri$="User/settings.json"] .view-line').first();
    await tab.click();
    await this.page.keyboard.press("ControlOrMeta+End");
    await this.page.keyboard.type("\n");
    await this.page.keyboard.press("ControlOrMeta+s");
    const end = Date.now() + 20_000;
    while ((await readFile(file, "utf8")) === text) {
      if (Date.now() > end) throw new Error("the settings were not saved");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await this.runCommand("View: Close Editor");
    await tab.waitFor({ state: "hidden" });
  }

  /** Changes settings of the machine, such as addresses and folders. */
  async configureMachine(settings: Readonly<Record<string, unknown>>): Promise<void> {
    await writeMachineSettings(this.server.userDataDir, settings);
  }

  /** The diagnostic information once it contains a text, such as a setting that has just been changed. */
  async diagnostics(text: string): Promise<string> {
    for (const end = Date.now() + 45_000; Date.now() < end;) {
      await this.page.evaluate(() => navigator.clipboard.writeText(""));
      await this.runCommand("Llama Gauge: Copy Diagnostic Information");
      const copied = await this.page.waitForFunction(() => navigator.clipboard.readText());
      const diagnostics = await copied.jsonValue();
      if (diagnostics.includes(text)) return diagnostics;
    }
    throw new Error(`the diagnostic information does not contain ${text}`);
  }

  async setTheme(theme: Theme): Promise<void> {
    const { label, class: className } = themes[theme];
    await this.runCommand("Preferences: Color Theme");
    await this.page.locator(".quick-input-widget input").first().fill(label);
    await this.acceptRow(label);
    await this.quickPickRow(label).waitFor({ state: "hidden" });
    await this.page.locator(`.monaco-workbench.${className}`).waitFor();
  }

  /** A picture of the whole window, or of one element, in out/screenshots. Returns the file. */
  async screenshot(name: string, of?: Locator): Promise<string> {
    await mkdir(screenshotFolder, { recursive: true });
    const file = path.join(screenshotFolder, `${name}.png`);
    // animations are finished, so that nothing is caught half faded
    await (of ?? this.page).screenshot({ path: file, animations: "disabled" });
    return file;
  }

  /** What asks for attention in the window, the panel's text, and the end of the extension's log. */
  async inWords(): Promise<string> {
    const places: readonly (readonly [string, Locator])[] = [
      ["dialog", this.page.locator(".monaco-dialog-box")],
      ["quick pick", this.page.locator(".quick-input-widget:visible")],
      ["notification", this.page.locator(".notification-list-item")],
      ["status bar", this.page.locator('.statusbar-item[id^="llama-gauge."]')],
      ["tab", this.page.locator(".tab.active")],
      ["panel", this.webview().locator("main")],
    ];
    const texts = places.map(async ([name, place]) =>
      (await place.allInnerTexts().catch(() => [])).map((text) => `${name}: ${text}`),
    );
    return [...(await Promise.all(texts)).flat(), await extensionLog(this.server.userDataDir)].join("\n");
  }

  /** Closes the window, the browser and the server, and removes the profile and the copied workspace. */
  async close(): Promise<void> {
    await this.browser.close();
    await this.server.stop();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Starts VS Code with the packaged extensions installed and waits until its window is usable. */
export async function openWorkbench(options: WorkbenchOptions): Promise<Workbench> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "lg-ui-"));
  const userDataDir = path.join(folder, "user-data");
  const open = options.open === undefined ? path.join(folder, "harbour") : options.open;
  if (options.open === undefined) {
    await cp(path.join(repository, "test/fixtures/workspace"), path.join(folder, "harbour"), {
      recursive: true,
    });
  }
  if (options.language !== undefined) await writeLanguagePack(userDataDir, options.language);
  const launching = launchBrowser();
  launching.catch(() => undefined);
  let server: VscodeServer | undefined;
  try {
    server = await startVscodeServer({
      host: options.host ?? "newest",
      vsix: options.vsix,
      userDataDir,
      settings: options.settings ?? {},
      workspaceTrust: options.workspaceTrust ?? false,
      env: options.env ?? {},
      ...(options.language !== undefined && { locale: options.language }),
    });
    const browser = await launching;
    const context = await browser.newContext({
      viewport: options.size ?? { width: 1280, height: 800 },
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const page = await context.newPage();
    page.setDefaultTimeout(45_000);
    await openWindow(page, workbenchUrl(server.origin, open === null ? {} : { open }), open !== null);
    return new Workbench(page, server, open ?? "", browser, folder);
  } catch (error) {
    await launching.then((browser) => browser.close()).catch(() => undefined);
    await server?.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    throw error;
  }
}

/**
 * Opens a window and waits until it is usable, with the files of its folders where it has some. A window on a workspace file may
 * ask for it before it is connected to the server, and then has no folders for good: it is opened again.
 */
export async function openWindow(page: Page, url: string, folders: boolean): Promise<void> {
  for (let tries = 1; ; tries++) {
    await page.goto(url, { waitUntil: "domcontentloaded", timeout: 120_000 });
    await page.locator(".monaco-workbench .statusbar-item").first().waitFor({ timeout: 120_000 });
    if (!folders) return;
    const row = page.locator(".explorer-folders-view .monaco-list-row").first();
    const none = page.locator(".welcome-view-content", { hasText: "not yet added a folder" });
    await row.or(none).first().waitFor({ timeout: 120_000 });
    // it may still come to them
    const shown = await row.waitFor({ timeout: tries < 3 ? 15_000 : 45_000 }).then(
      () => true,
      () => false,
    );
    if (shown) return;
    if (tries === 3) throw new Error("the window does not show the folders of its workspace");
  }
}

/**
 * For every test of the file that fails: a picture of the window, and in words what it shows and what was logged. What asks
 * for an answer is put away, so that another try begins with a window that can be used.
 */
export function screenshotWhenFailed(workbench: () => Workbench | undefined): void {
  afterEach(async ({ task }) => {
    const shown = workbench();
    if (task.result?.state !== "fail" || shown === undefined) return;
    await shown.screenshot(`failed-${task.name.replaceAll(/[^\p{L}\p{N}]+/gu, "-")}`);
    console.error(`The window after “${task.name}”:\n${await shown.inWords()}`);
    for (let questions = 0; questions < 2; questions++) await shown.page.keyboard.press("Escape");
  });
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
