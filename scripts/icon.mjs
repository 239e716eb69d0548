// Draws media/icon.png, which the extension page shows, from media/icon.svg: an extension's icon may not be an SVG.
import { readFileSync } from "node:fs";
import path from "node:path";
import { chromium } from "playwright-core";
import { ScriptError } from "./run.mjs";
import { findBrowser } from "./systemPackages.mjs";

const media = path.join(import.meta.dirname, "../media");

/** Pixels on each side: twice the largest size at which VS Code and the store show it. */
const side = 256;

/** @returns {Promise<Buffer>} the icon as a PNG, and in a file if one is named */
export async function drawIcon(file = undefined) {
  const executablePath = findBrowser();
  if (executablePath === undefined)
    throw new ScriptError("no Chromium or Chrome on the PATH; name one in CHROMIUM");
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    const page = await browser.newPage({ viewport: { width: side, height: side } });
    const svg = readFileSync(path.join(media, "icon.svg"), "utf8");
    await page.setContent(`<style>body { margin: 0 } svg { display: block }</style>${svg}`);
    return await page.screenshot({ path: file, omitBackground: true });
  } finally {
    await browser.close();
  }
}
