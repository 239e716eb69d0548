import { readFile } from "node:fs/promises";
import path from "node:path";
import type axe from "axe-core";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repository } from "../support/repository";
import { sampleStateNames, sampleStates } from "../support/sampleStates";
import { launchBrowser } from "../support/vscodeHost/browser";
import { bundlePanel, openPanelPage, type PanelBundle, type PanelPage } from "./support/panelPage";
import type { Theme } from "./support/workbench";

const themes: readonly Theme[] = ["light", "dark", "highContrast", "highContrastLight"];

let browser: Browser;
let bundle: PanelBundle;
let checker: string;
beforeAll(async () => {
  [browser, bundle, checker] = await Promise.all([
    launchBrowser(),
    bundlePanel(),
    readFile(path.join(repository, "node_modules/axe-core/axe.min.js"), "utf8"),
  ]);
});
afterAll(() => browser.close());

/** What axe-core has against the page by WCAG 2.2 A and AA: rule, element and why. */
async function violations({ page }: PanelPage): Promise<readonly string[]> {
  const results = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
      resultTypes: ["violations"],
    }),
  );
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary ?? ""}`),
  );
}

describe("the panel's page by WCAG 2.2 AA", () => {
  it.each(sampleStateNames)("has nothing against it in the state %s, in any theme", async (name) => {
    const panel = await openPanelPage(browser, bundle, {
      theme: "dark",
      language: "en",
      trusted: name !== "failed",
    });
    const { page } = panel;
    try {
      await panel.show(sampleStates[name]());
      await page.evaluate(checker);
      for (const theme of themes) {
        await panel.setTheme(theme);
        expect([theme, "pictures", ...(await violations(panel))]).toEqual([theme, "pictures"]);
      }
      for (const button of await page.getByRole("button", { name: "Table" }).all()) await button.click();
      for (const summary of await page.locator("summary").all()) await summary.click();
      for (const theme of themes) {
        await panel.setTheme(theme);
        expect([theme, "tables", ...(await violations(panel))]).toEqual([theme, "tables"]);
      }
    } finally {
      await panel.close();
    }
  });
});
