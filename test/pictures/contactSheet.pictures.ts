import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, inject, it } from "vitest";
import { forgedModel } from "../support/forge/forgeModel";
import { startLlamaServer } from "../support/llamaCpp";
import { repository } from "../support/repository";
import { sampleStateNames, sampleStates, type SampleState } from "../support/sampleStates";
import { launchBrowser } from "../support/vscodeHost/browser";
import { bundlePanel, openPanelPage } from "../ui/support/panelPage";
import { openWorkbench, type Theme } from "../ui/support/workbench";

const themes: readonly Theme[] = ["light", "dark", "highContrast", "highContrastLight"];
const languages = ["en", "ja"] as const;
const folder = path.join(repository, "out/contact-sheet");
const windows: string[] = [];

let browser: Browser;
beforeAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  browser = await launchBrowser();
});

/** One page with every picture, and that page as a picture. */
afterAll(async () => {
  const html = path.join(folder, "index.html");
  await writeFile(html, sheet());
  const page = await browser.newPage({ viewport: { width: 2400, height: 1200 } });
  await page.goto(pathToFileURL(html).href);
  await page.screenshot({ path: path.join(folder, "contact-sheet.png"), fullPage: true });
  await browser.close();
  console.log(`  ${path.relative(repository, html)}`);
});

const pictureOf = (state: SampleState, theme: Theme, language: string): string =>
  `${state}-${theme}-${language}.png`;

describe("the contact sheet", () => {
  it("has the panel in every state, theme and language", async () => {
    const bundle = await bundlePanel();
    for (const state of sampleStateNames) {
      for (const language of languages) {
        const trusted = state !== "failed";
        const panel = await openPanelPage(browser, bundle, { theme: "dark", language, trusted });
        await panel.show(sampleStates[state]());
        for (const theme of themes) {
          await panel.setTheme(theme);
          const file = path.join(folder, pictureOf(state, theme, language));
          await panel.page.screenshot({ path: file, fullPage: true });
        }
        await panel.close();
      }
    }
  });

  it.each(languages)("has whole windows in %s", async (language) => {
    const server = await startLlamaServer({
      model: await forgedModel({ vocabulary: "qwen2_5" }),
      args: ["-c", "8192", "-np", "1"],
    });
    try {
      const workbench = await openWorkbench({
        vsix: [inject("vsix")],
        size: { width: 1280, height: 900 },
        settings: { "llamaGauge.server.url": server.url },
        ...(language !== "en" && { language }),
      });
      try {
        await workbench.statusBarItem().waitFor();
        await workbench.togglePane("harbour", false);
        await workbench
          .pane(language === "en" ? "Tokens" : "トークン")
          .locator(".pane-header")
          .first()
          .click();
        for (const part of ["first", "report"]) {
          if (part === "report") {
            await workbench.page.locator(".welcome-view-content .monaco-button").first().click();
            await workbench.webview().locator(".verdict").waitFor();
          }
          for (const theme of language === "en" ? themes : (["light"] as const)) {
            await workbench.setTheme(theme);
            const name = `window-${part}-${theme}-${language}.png`;
            await workbench.page.screenshot({ path: path.join(folder, name), animations: "disabled" });
            windows.push(name);
          }
        }
      } finally {
        await workbench.close();
      }
    } finally {
      await server.stop();
    }
  });
});

function sheet(): string {
  const picture = (file: string): string =>
    `<figure><a href="${file}"><img src="${file}" alt=""></a><figcaption>${file.replace(".png", "")}</figcaption></figure>`;
  const rows = sampleStateNames.map((state) => {
    const files = languages.flatMap((language) => themes.map((theme) => pictureOf(state, theme, language)));
    return `<h2>${state}</h2><div class="row">${files.map(picture).join("")}</div>`;
  });
  return `<!DOCTYPE html><meta charset="utf-8"><title>Llama Gauge: contact sheet</title>
<style>body{font:14px system-ui;background:#777;margin:16px}.row{display:grid;grid-template-columns:repeat(8,1fr);gap:8px;align-items:start}
.windows{grid-template-columns:repeat(5,1fr)}figure{margin:0}img{width:100%;display:block}figcaption{font-size:11px}</style>
<h1>Llama Gauge</h1>${rows.join("\n")}<h2>Whole windows</h2><div class="row windows">${windows.map(picture).join("")}</div>`;
}
