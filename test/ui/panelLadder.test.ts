import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { Locator } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { GaugeState } from "../../src/core/report/gaugeState";
import { sampleLadderNames, sampleLadders, type SampleLadder } from "../support/sampleLadders";
import { sampleStates } from "../support/sampleStates";
import { violations } from "./support/axe";
import { panelPages, type PanelPage, type PanelSetting } from "./support/panelPage";
import { screenshotFolder, type Theme } from "./support/workbench";

const themes: readonly Theme[] = ["light", "dark", "highContrast", "highContrastLight"];

const open = panelPages();

async function withLadder(
  name: SampleLadder,
  setting: Partial<PanelSetting>,
  use: (panel: PanelPage, card: Locator) => Promise<void>,
  state: GaugeState = sampleStates.fits(),
): Promise<void> {
  const panel = await open(setting);
  await panel.send({ type: "ladder", ladder: sampleLadders[name]() });
  await panel.show(state);
  await use(panel, panel.page.locator("#ladder"));
}

const rowsOf = async (card: Locator, name: string): Promise<string[][]> =>
  (await card.getByRole("table", { name }).getByRole("row").allInnerTexts()).map((row) => row.split("\t"));

describe("the ladder's card", () => {
  it.each(sampleLadderNames)("draws the state %s in its themes and in Japanese", async (name) => {
    const folder = path.join(screenshotFolder, "ladder");
    await mkdir(folder, { recursive: true });
    for (const language of ["en", "ja"] as const) {
      await withLadder(name, { language }, async (panel, card) => {
        const all = name === "forgets" || name === "stopped";
        const some = all ? themes : (["light", "dark"] as const);
        for (const theme of language === "en" ? some : (["light"] as const)) {
          await panel.setTheme(theme);
          await card.screenshot({ path: path.join(folder, `${name}-${theme}-${language}.png`) });
        }
        await expect.poll(() => card.innerText()).not.toMatch(/\{\d\}|undefined|NaN|\[object/);
      });
    }
  });

  it("shows what a real run found, as a picture and as tables", async () => {
    await withLadder("forgets", {}, async ({ page }, card) => {
      const heading = card.getByRole("heading", { level: 3 });
      await expect
        .poll(() => heading.innerText())
        .toBe("Not verified at 12,288 tokens; sufficient recall to 8,192 tokens");
      const bars = await card.locator("svg.ladder .share").count();
      const low = await card.locator("svg.ladder .share.low").count();
      expect(low).toBeGreaterThan(0);
      expect(bars).toBeGreaterThan(low);
      await card.getByRole("button", { name: "Table" }).focus();
      await page.keyboard.press("Enter");
      await card.getByRole("table", { name: "Ladder by length" }).waitFor();
      const byLength = await rowsOf(card, "Ladder by length");
      expect(byLength.slice(1).map(([tokens, , recall]) => [tokens?.trim(), recall?.trim()])).toEqual([
        ["2,048", "12/12"],
        ["4,096", "9/9"],
        ["8,192", "9/9"],
        ["12,288", expect.stringMatching(/^\d+\/36$/)],
      ]);
      const byPosition = await rowsOf(card, "Recall by position");
      const target = (byPosition.at(-1) ?? []).map((cell) => cell.trim());
      // it recalls what stands less than about 10,000 tokens before the question
      expect(target[2]).toMatch(/^0\//);
      expect(target.at(-2)).toMatch(/^(\d+)\/\1$/);
      await card.getByText("Recommended context for each use").first().click();
      const [, completion] = await rowsOf(card, "Recommended context for each use");
      expect(completion?.[0]?.trim()).toBe("Completion while typing");
    });
  });

  it("says which window was verified, how often", async () => {
    await withLadder("passed", {}, async (_, card) => {
      await expect
        .poll(() => card.getByRole("heading", { level: 3 }).innerText())
        .toBe("Verified window: 12,288 tokens, 3 of 3 runs passed");
    });
  });

  it("offers what can be done in each state, and nothing else", async () => {
    const offers: Partial<Record<SampleLadder, readonly string[]>> = {
      none: ["createLadderPlan", "diagnoseLongContext"],
      running: ["cancelLadder"],
      resumable: ["resumeLadder", "runLadder", "exportLadderReport", "compareLadders", "showLadder"],
      passed: ["runLadder", "exportLadderReport", "compareLadders", "showLadder"],
    };
    for (const [name, commands] of Object.entries(offers)) {
      await withLadder(name as SampleLadder, {}, async (panel, card) => {
        for (const button of await card.locator("vscode-button").all()) await button.click();
        const sent = (await panel.sent()).flatMap((message) =>
          message.type === "command" ? [message.command] : [],
        );
        expect(sent.slice(0, commands.length)).toEqual(commands);
      });
    }
  });

  it("tells a failure of the system with the server's own words", async () => {
    await withLadder("stopped", {}, async (_, card) => {
      await card.getByText("What the server reported").click();
      await card.getByText(/allocating 640\.00 MiB on device 0/).waitFor();
      await card.locator("svg.ladder .trouble", { hasText: "ran out of memory" }).waitFor();
    });
  });

  it("stands below the page that asks for a first estimate, and is gone without a ladder", async () => {
    const idle = sampleStates.idle();
    await withLadder("forgets", {}, async (_, card) => card.getByRole("img").first().waitFor(), idle);
    await withLadder("none", {}, async (_, card) => await expect.poll(() => card.count()).toBe(0), idle);
  });

  it.each([320, 560, 1000])("reflows to %i pixels", async (width) => {
    await withLadder("forgets", { size: { width, height: 800 } }, async ({ page }, card) => {
      await card.screenshot({ path: path.join(screenshotFolder, "ladder", `reflow-${width}.png`) });
      const wide = (): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth);
      await expect.poll(wide).toBeLessThanOrEqual(width);
      await card.getByRole("button", { name: "Table" }).click();
      await card.getByRole("table", { name: "Ladder by length" }).waitFor();
      await expect.poll(wide).toBeLessThanOrEqual(width);
    });
  });

  it("has nothing against it by WCAG 2.2 AA", async () => {
    for (const name of ["forgets", "running", "stopped"] as const) {
      await withLadder(name, {}, async ({ page }, card) => {
        expect(await violations(page, "#ladder")).toEqual([]);
        for (const summary of await card.locator("summary").all()) await summary.click();
        await card.getByRole("button", { name: "Table" }).click();
        await card.getByRole("table", { name: "Ladder by length" }).waitFor();
        expect(await violations(page, "#ladder")).toEqual([]);
      });
    }
  });
});
