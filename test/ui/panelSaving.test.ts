import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { SavedFile } from "../../src/core/protocol/savedFiles";
import { sampleReport } from "../support/sampleReports";
import { sampleStates } from "../support/sampleStates";
import { panelPages, type PanelPage } from "./support/panelPage";
import { screenshotFolder, type Theme } from "./support/workbench";

const open = panelPages();

async function withFits(
  setting: { readonly language?: "en" | "ja"; readonly theme?: Theme },
  use: (panel: PanelPage) => Promise<void>,
): Promise<void> {
  const panel = await open(setting);
  await panel.show(sampleStates.fits());
  await use(panel);
}

/** The message of the last press on a button that saves, once it is there. */
async function saved(panel: PanelPage, name: string): Promise<readonly SavedFile[]> {
  let files: readonly SavedFile[] | undefined;
  await expect
    .poll(
      async () => {
        for (const message of await panel.sent()) {
          if (message.type === "save" && message.name === name) files = message.files;
        }
        return files;
      },
      { timeout: 20_000 },
    )
    .toBeDefined();
  return files ?? [];
}

describe("saving from the panel's page", () => {
  it.each([
    ["room", "dark", "Room", ["server.cpp", "reserved for the answer", "context per request: 32,512"]],
    ["memory", "light", "Memory", ["CUDA0", "12.7 GiB", "weights 20.2 GiB"]],
    ["wait", "dark", "Wait", ["20,000", "this prompt: 77 s", "3 measured points"]],
    ["wait", "highContrastLight", "Wait", ["this prompt: 77 s"]],
  ] as const)(
    "writes the picture of %s (%s) as SVG and PNG that look like the page",
    async (id, theme, name, texts) => {
      await withFits({ theme }, async (panel) => {
        const card = panel.page.getByRole("region", { name });
        const chart = card.locator('svg[role="img"]').first();
        // a chart between two pixels is drawn with paler lines
        const { y } = (await chart.boundingBox()) ?? { y: 0 };
        await card.evaluate(
          (section, down) => {
            section.style.marginTop = `${String(down)}px`;
          },
          Math.ceil(y) - y,
        );
        const shown = await chart.screenshot();
        await card.getByRole("button", { name: "Save picture as SVG or PNG" }).click();
        const [svg, png] = await saved(panel, `llama-gauge-${id}`);
        if (typeof svg?.content !== "string" || !(png?.content instanceof Uint8Array))
          throw new Error("no files");
        for (const text of [...texts, "harbour · Qwen3.6-35B-A3B"]) expect(svg.content).toContain(text);
        expect(svg.content).not.toMatch(/var\(|class=|style=|color-mix|color\(|NaN|undefined/);
        const folder = path.join(screenshotFolder, "saved");
        await mkdir(folder, { recursive: true });
        await writeFile(path.join(folder, `${id}-${theme}.svg`), svg.content);
        await writeFile(path.join(folder, `${id}-${theme}.png`), png.content);
        const page = await panel.page.context().newPage();
        const [, left, top] = /<g transform="translate\((\d+) (\d+)\)"/.exec(svg.content) ?? [];
        const { width, height, drawn, coloured, difference } = await page.evaluate(compare, {
          svg: svg.content,
          png: Buffer.from(png.content).toString("base64"),
          shown: shown.toString("base64"),
          at: [Number(left), Number(top)] as const,
        });
        await page.close();
        const [, svgWidth, svgHeight] = /width="(\d+)" height="(\d+)"/.exec(svg.content) ?? [];
        expect([width, height]).toEqual([2 * Number(svgWidth), 2 * Number(svgHeight)]);
        // of 255; letters are smoothed differently
        expect(difference).toBeLessThan(3);
        expect(drawn).toBeLessThan(3);
        // something else than a plain surface is compared
        expect(coloured).toBeGreaterThan(10);
      });
    },
  );

  it("writes a table as bare numbers for programs and as Markdown for people", async () => {
    await withFits({}, async (panel) => {
      const room = panel.page.getByRole("region", { name: "Room" });
      await room.getByRole("button", { name: "Table" }).click();
      await room.getByRole("button", { name: "Save “Files by tokens” as CSV or Markdown" }).click();
      const [csv, markdown] = await saved(panel, "llama-gauge-files-by-tokens");
      const lines = String(csv?.content).split("\r\n");
      expect(lines[0]).toBe("\ufeffFile,Tokens,Share (%),Size (B),Mark");
      const [file, tokens, share, size, mark] = lines[1]?.split(",") ?? [];
      expect([file, tokens, size, mark]).toEqual(["src/server/server.cpp", "4210", "15577", ""]);
      expect(Number(share)).toBeCloseTo((100 * 4210) / 19_212, 9);
      expect(lines).toHaveLength(14);
      expect(String(markdown?.content)).toMatch(
        /^\*\*Files by tokens\*\*\n\n\| File \| Tokens .*\n\| :-- \| --: .*\n\| src\/server\/server\.cpp \| 4,210 \| 22 % \| 15\.2 KiB \| {2}\|\n/,
      );
    });
  });

  it("writes all rows, also those that the page does not show", async () => {
    const [file] = sampleReport().tokens.files;
    if (file === undefined) throw new Error("no file");
    const files = Array.from({ length: 500 }, (_, i) => ({
      ...file,
      file: { ...file.file, path: `/w/${i}`, label: i === 0 ? "=1+1.txt" : `a "${i}", b.txt` },
    }));
    await withFits({ language: "ja" }, async (panel) => {
      const report = sampleReport({ tokens: { ...sampleReport().tokens, files } });
      await panel.show({ status: "ready", report, stale: false });
      const room = panel.page.locator("#room");
      await room.getByRole("button", { name: "表", exact: true }).click();
      await room
        .getByRole("button", { name: "「トークン数順のファイル」を CSV または Markdown で保存" })
        .click();
      const [csv] = await saved(panel, "llama-gauge-files-by-tokens");
      const lines = String(csv?.content).split("\r\n");
      expect(lines).toHaveLength(502);
      expect(lines).toContainEqual(expect.stringMatching(/^"a ""499"", b\.txt",4210,/));
      // a spreadsheet must not take a name for a formula
      expect(lines).toContainEqual(expect.stringMatching(/^'=1\+1\.txt,4210,/));
    });
  });
});

/**
 * In a page: draws the files; resolves to the PNG's size, and to the mean difference of colours between PNG and SVG, and
 * between PNG and the drawing as the page shows it, which begins `at` in the picture; `coloured`: how many colours it has.
 */
async function compare({
  svg,
  png,
  shown,
  at: [left, top],
}: {
  readonly svg: string;
  readonly png: string;
  readonly shown: string;
  readonly at: readonly [number, number];
}): Promise<{
  readonly width: number;
  readonly height: number;
  readonly difference: number;
  readonly drawn: number;
  readonly coloured: number;
}> {
  const load = async (url: string): Promise<HTMLImageElement> => {
    const image = new Image();
    image.src = url;
    await image.decode();
    return image;
  };
  const [raster, vector, screen] = await Promise.all([
    load(`data:image/png;base64,${png}`),
    load(`data:image/svg+xml,${encodeURIComponent(svg)}`),
    load(`data:image/png;base64,${shown}`),
  ]);
  const pixels = (image: HTMLImageElement, [w, h, x, y, scale]: readonly number[]): Uint8ClampedArray => {
    const context = new OffscreenCanvas(w ?? 0, h ?? 0).getContext("2d");
    if (context === null) throw new Error("no canvas");
    const [wide, high] = [image.naturalWidth * (scale ?? 1), image.naturalHeight * (scale ?? 1)];
    context.drawImage(image, -(x ?? 0), -(y ?? 0), wide, high);
    return context.getImageData(0, 0, w ?? 0, h ?? 0).data;
  };
  const apart = (a: Uint8ClampedArray, b: Uint8ClampedArray): number =>
    a.reduce((sum, value, i) => sum + Math.abs(value - (b[i] ?? 0)), 0) / a.length;
  const { naturalWidth: width, naturalHeight: height } = raster;
  const size = [screen.naturalWidth, screen.naturalHeight];
  const onPage = pixels(screen, [...size, 0, 0, 1]);
  return {
    width,
    height,
    difference: apart(
      pixels(raster, [width, height, 0, 0, 1]),
      pixels(vector, [width, height, 0, 0, width / vector.naturalWidth]),
    ),
    drawn: apart(pixels(raster, [...size, left, top, 0.5]), onPage),
    coloured: new Set(
      Array.from({ length: onPage.length / 4 }, (_, i) => onPage.slice(4 * i, 4 * i + 3).join()),
    ).size,
  };
}
