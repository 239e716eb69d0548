/**
 * The panel's page in a real browser, without VS Code around it: the real bundle under the real content security policy,
 * in the colours of a real theme, fed with messages as the extension sends them.
 */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { panelHtml } from "../../../src/client/panel/panelHtml";
import { panelStateOf, type FromPanel, type ToPanel } from "../../../src/core/protocol/panelMessages";
import { reportOf } from "../../../src/core/report/gaugeState";
import type { GaugeState } from "../../../src/core/report/gaugeState";
import { repository } from "../../support/repository";
import { launchBrowser } from "../../support/vscodeHost/browser";
import type { Theme } from "./workbench";

const origin = "https://panel.example";

export interface PanelBundle {
  readonly script: string;
  readonly style: string;
}

export async function bundlePanel(): Promise<PanelBundle> {
  const { outputFiles } = await build({
    absWorkingDir: repository,
    entryPoints: { webview: "src/webview/main.ts" },
    outdir: "dist",
    bundle: true,
    write: false,
    format: "iife",
    target: "es2022",
  });
  const text = (end: string): string => outputFiles.find((file) => file.path.endsWith(end))?.text ?? "";
  return { script: text(".js"), style: text(".css") };
}

export interface PanelSetting {
  readonly theme: Theme;
  readonly language: "en" | "ja";
  readonly trusted?: boolean;
  readonly size?: { readonly width: number; readonly height: number };
  readonly reducedMotion?: boolean;
  /** What `acquireVsCodeApi().getState()` gives at first. */
  readonly kept?: unknown;
}

export class PanelPage {
  constructor(
    readonly page: Page,
    private readonly setting: PanelSetting,
  ) {}

  /** Sends messages, and waits until the page has drawn them. */
  async send(...messages: readonly ToPanel[]): Promise<void> {
    await this.page.evaluate(deliver, messages);
    await this.drawn();
  }

  /** Everything the extension sends for a state. */
  async show(state: GaugeState): Promise<void> {
    const { language, trusted } = this.setting;
    const report = reportOf(state);
    await this.send(
      {
        type: "page",
        locale: language,
        translations: await translationsOf(language),
        trusted: trusted ?? true,
      },
      ...(report === undefined ? [] : [{ type: "report", report } as const]),
      { type: "state", state: panelStateOf(state) },
    );
  }

  /** What happened to the page so far is drawn with the next frame; pictures take the width of that one, and another frame. */
  async drawn(): Promise<void> {
    await this.page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
  }

  async setTheme(theme: Theme): Promise<void> {
    await this.page.evaluate(wear, await themeOf(theme));
  }

  /** What the page has sent so far. */
  async sent(): Promise<readonly FromPanel[]> {
    return this.page.evaluate(() => (globalThis as unknown as { sent: FromPanel[] }).sent);
  }

  async kept(): Promise<unknown> {
    return this.page.evaluate(() => (globalThis as unknown as { kept: unknown }).kept);
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}

/**
 * Pages for the tests of a file, in one browser; a page that a test has left is loaded anew for the next. A test fails on
 * script errors and on anything the content security policy forbids.
 */
export function panelPages(): (setting?: Partial<PanelSetting>) => Promise<PanelPage> {
  let browser: Browser;
  let bundle: PanelBundle;
  const free: PanelTab[] = [];
  const inUse: PanelTab[] = [];
  beforeAll(async () => {
    [browser, bundle] = await Promise.all([launchBrowser(), bundlePanel()]);
  });
  afterAll(() => browser.close());
  afterEach(() => {
    const tabs = inUse.splice(0);
    free.push(...tabs);
    expect(tabs.flatMap(({ complaints }) => complaints)).toEqual([]);
  });
  return async (setting = {}) => {
    const tab = free.pop() ?? (await PanelTab.open(browser, bundle));
    inUse.push(tab);
    return tab.load({ theme: "dark", language: "en", ...setting });
  };
}

export async function openPanelPage(
  browser: Browser,
  bundle: PanelBundle,
  setting: PanelSetting,
): Promise<PanelPage> {
  return (await PanelTab.open(browser, bundle)).load(setting);
}

/** A tab of the browser, in which the page can be loaded again and again: much cheaper than a new one. */
class PanelTab {
  /** What the page complained about since it was loaded: script errors and violations of the policy. */
  complaints: string[] = [];
  private html = "";
  private readonly routed: Promise<unknown>;

  private constructor(
    private readonly page: Page,
    bundle: PanelBundle,
  ) {
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") this.complaints.push(message.text());
    });
    this.routed = page.route(`${origin}/**`, async (route) => {
      const [contentType, body] = served(route.request().url(), this.html, bundle);
      await route.fulfill({ contentType, body });
    });
  }

  static async open(browser: Browser, bundle: PanelBundle): Promise<PanelTab> {
    const context = await browser.newContext();
    return new PanelTab(await context.newPage(), bundle);
  }

  async load(setting: PanelSetting): Promise<PanelPage> {
    const { page } = this;
    this.complaints = [];
    this.html = panelHtml(
      { script: `${origin}/webview.js`, style: `${origin}/webview.css`, cspSource: origin },
      setting.language,
    );
    await this.routed;
    await page.setViewportSize(setting.size ?? { width: 1000, height: 900 });
    await page.emulateMedia({ reducedMotion: setting.reducedMotion === true ? "reduce" : "no-preference" });
    // where the last test has left it, something of the next could be under it
    await page.mouse.move(0, 0);
    // after those of former loads, so what it keeps counts
    await page.addInitScript(prepare, setting.kept);
    await page.goto(`${origin}/`);
    const panel = new PanelPage(page, setting);
    await panel.setTheme(setting.theme);
    return panel;
  }
}

function served(url: string, html: string, bundle: PanelBundle): readonly [string, string] {
  if (url.endsWith(".js")) return ["text/javascript", bundle.script];
  if (url.endsWith(".css")) return ["text/css", bundle.style];
  return ["text/html", html];
}

interface ThemeFixture {
  readonly bodyClass: string;
  readonly variables: Readonly<Record<string, string>>;
}

async function themeOf(theme: Theme): Promise<ThemeFixture> {
  const file = path.join(repository, `test/fixtures/themes/${theme}.json`);
  return JSON.parse(await readFile(file, "utf8")) as ThemeFixture;
}

async function translationsOf(language: PanelSetting["language"]): Promise<Record<string, string>> {
  if (language === "en") return {};
  const file = path.join(repository, `media/l10n/bundle.l10n.${language}.json`);
  return JSON.parse(await readFile(file, "utf8")) as Record<string, string>;
}

/** In the page: resolves when all messages have arrived. */
async function deliver(messages: readonly unknown[]): Promise<void> {
  let left = messages.length;
  await new Promise<void>((resolve) => {
    const count = (): void => {
      left -= 1;
      if (left > 0) return;
      removeEventListener("message", count);
      resolve();
    };
    addEventListener("message", count);
    for (const message of messages) window.postMessage(message, "*");
  });
}

/** Does in the page what VS Code does when the theme changes. */
function wear({ variables, bodyClass }: ThemeFixture): void {
  document.documentElement.removeAttribute("style");
  for (const [name, value] of Object.entries(variables)) {
    document.documentElement.style.setProperty(name, value);
  }
  document.body.className = bodyClass;
}

/** Does in the page what VS Code does before it: gives the page its interface. */
function prepare(kept: unknown): void {
  const host = globalThis as unknown as { sent: unknown[]; kept: unknown; acquireVsCodeApi: unknown };
  host.sent = [];
  host.kept = kept;
  host.acquireVsCodeApi = () => ({
    postMessage: (message: unknown) => host.sent.push(message),
    getState: () => host.kept,
    setState: (state: unknown) => (host.kept = state),
  });
}
