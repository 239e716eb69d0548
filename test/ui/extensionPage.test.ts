import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { repository } from "../support/repository";
import { openWorkbench, screenshotWhenFailed, type Workbench } from "./support/workbench";

/** The page of the installed extension, on a machine without a network. */

let workbench: Workbench;
let body: Locator;
let pictures: readonly string[];
/** What the page wanted from elsewhere. */
const outside: string[] = [];

beforeAll(async () => {
  const readme = await readFile(path.join(repository, "README.md"), "utf8");
  pictures = Array.from(readme.matchAll(/!\[[^\]]*\]\(([^)\s]+)\)/g), ([, target = ""]) => target);
  workbench = await openWorkbench({ vsix: [inject("vsix")], size: { width: 1280, height: 1000 } });
  const { page } = workbench;
  const own = new URL(workbench.server.origin).hostname;
  await page.context().route(
    ({ protocol, hostname }) => protocol.startsWith("http") && hostname !== own,
    async (route) => {
      outside.push(route.request().url());
      await route.abort();
    },
  );
  await page.locator(".activitybar .codicon-extensions-view-icon").first().click();
  await page.locator(".extensions-list .monaco-list-row", { hasText: "Llama Gauge" }).first().dblclick();
  body = workbench.webview().locator("body");
  await body.getByRole("heading", { name: "Llama Gauge", level: 1 }).waitFor();
});
afterAll(() => workbench.close());
screenshotWhenFailed(() => workbench);

describe("the extension's page in the editor, without a network", () => {
  it("has the icon", async () => {
    const icon = workbench.page.locator(".extension-editor .header img").first();
    await expect.poll(() => icon.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(256);
  });

  it("shows every picture of the README", async () => {
    expect(pictures.length).toBeGreaterThan(0);
    for (const picture of pictures) {
      const drawn = body.locator(`#${picture.replace(/\.\w+$/, "").replaceAll("/", "-")}`);
      await drawn.scrollIntoViewIfNeeded();
      const block = drawn.locator("pre");
      await block.waitFor();
      const drawing = await block.evaluate((pre) => ({
        text: pre.textContent,
        hidden: pre.scrollWidth - pre.clientWidth,
      }));
      expect(drawing.text.match(/[█▓▒░]{20,}/g)?.length).toBeGreaterThan(1);
      expect(drawing.hidden).toBeLessThanOrEqual(0);
    }
    await workbench.screenshot("extension-page");
    // a picture that the page could not load would be one of these
    const broken = body
      .locator("img")
      .evaluateAll((images) =>
        images.flatMap((img) =>
          img instanceof HTMLImageElement && img.naturalWidth > 0 ? [] : [img.outerHTML],
        ),
      );
    expect(await broken).toEqual([]);
  });

  it("has no link that leads nowhere", async () => {
    const links = await body.locator("a").evaluateAll((anchors) =>
      anchors.map((anchor) => {
        const href = anchor.getAttribute("href") ?? "";
        const there = href.startsWith("#")
          ? href === "#" || document.getElementById(decodeURIComponent(href.slice(1))) !== null
          : /^(https?|mailto):/.test(href);
        return { text: anchor.textContent, href, there };
      }),
    );
    expect(links.filter(({ href }) => href.startsWith("#docs-")).length).toBeGreaterThan(0);
    expect(links.filter(({ there }) => !there)).toEqual([]);
  });

  it("opens the documentation at a click", async () => {
    const link = body.locator('a[href^="#docs-"]').first();
    const id = (await link.getAttribute("href"))?.slice(1) ?? "";
    const seen = (): Promise<boolean> =>
      body.locator(`[id="${id}"]`).evaluate((target) => {
        const { top, bottom } = (target.parentElement ?? target).getBoundingClientRect();
        return bottom > 0 && top < window.innerHeight;
      });
    await body.evaluate(() => window.scrollTo(0, 0));
    await expect.poll(seen).toBe(false);
    await link.click();
    await expect.poll(seen).toBe(true);
    await workbench.screenshot("extension-page-docs");
  });

  it("asks nothing of other machines", () => {
    expect(outside).toEqual([]);
  });
});
