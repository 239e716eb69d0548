import { readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { repository } from "../../support/repository";
import { launchBrowser } from "../../support/vscodeHost/browser";

const png = await readFile(path.join(repository, "media/icon.png"));

it("is a PNG of 256 × 256 pixels", () => {
  // PNG specification, 11.2.2: the header's first two numbers are width and height
  expect(png.toString("latin1", 1, 4)).toBe("PNG");
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([256, 256]);
});

it("shows what the SVG draws", async () => {
  const script = pathToFileURL(path.join(repository, "scripts/icon.mjs")).href;
  const { drawIcon } = (await import(script)) as { drawIcon: () => Promise<Buffer> };
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    const difference = await page.evaluate(
      differenceOf,
      [png, await drawIcon()].map((picture) => `data:image/png;base64,${picture.toString("base64")}`),
    );
    // another version of the browser may smooth edges in another way
    expect(difference).toBeLessThan(1);
  } finally {
    await browser.close();
  }
});

/** In a page: by how much of 255 the values of two pictures differ on average. */
async function differenceOf(pictures: readonly string[]): Promise<number> {
  const drawn = pictures.map(async (source) => {
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context?.drawImage(image, 0, 0);
    return context?.getImageData(0, 0, image.width, image.height).data ?? new Uint8ClampedArray();
  });
  const [first = new Uint8ClampedArray(), other] = await Promise.all(drawn);
  return first.reduce((sum, value, i) => sum + Math.abs(value - (other?.[i] ?? 0)), 0) / first.length;
}
