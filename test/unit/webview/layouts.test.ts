import { describe, expect, it } from "vitest";
import { tokenTree } from "../../../src/core/tokens/tokenTree";
import type { CountedFile } from "../../../src/core/tokens/tokenCount";
import { contextLayout } from "../../../src/webview/charts/contextLayout";
import { curveLayout } from "../../../src/webview/charts/curveLayout";
import { deviceLayout } from "../../../src/webview/charts/deviceLayout";
import { shorten, textWidth } from "../../../src/webview/charts/labels";
import { treemapLayout } from "../../../src/webview/charts/treemapLayout";
import { waitLayout } from "../../../src/webview/charts/waitLayout";
import { everythingKnown, sampleCurve, sampleFiles, tooLong, twoDevices } from "../../support/sampleReports";

const file = (label: string, tokens: number): CountedFile => ({
  file: { path: `/${label}`, label, bytes: 4 * tokens, mtimeMs: 0 },
  tokens,
});

describe("treemapLayout", () => {
  const tiles = treemapLayout(tokenTree(sampleFiles), 1000, 300);

  it("gives every file a box inside the picture, none over another", () => {
    const leaves = tiles.filter(({ kind }) => kind === "file");
    expect(leaves.map(({ node }) => node.label).toSorted()).toEqual(
      sampleFiles.map((counted) => counted.file.label).toSorted(),
    );
    for (const tile of leaves) {
      expect(tile.x).toBeGreaterThanOrEqual(0);
      expect(tile.y).toBeGreaterThanOrEqual(0);
      expect(tile.x + tile.width).toBeLessThanOrEqual(1000.001);
      expect(tile.y + tile.height).toBeLessThanOrEqual(300.001);
      const over = leaves.filter(
        (other) =>
          other !== tile &&
          other.x < tile.x + tile.width - 0.01 &&
          tile.x < other.x + other.width - 0.01 &&
          other.y < tile.y + tile.height - 0.01 &&
          tile.y < other.y + other.height - 0.01,
      );
      expect(over).toEqual([]);
    }
  });

  it("draws areas in proportion to tokens, gaps and headings aside", () => {
    const flat = treemapLayout(tokenTree([file("a", 3000), file("b", 1000)]), 800, 400);
    const area = (label: string): number => {
      const tile = flat.find(({ node }) => node.label === label);
      return (tile?.width ?? 0) * (tile?.height ?? 0);
    };
    expect(area("a") / area("b")).toBeCloseTo(3, 1);
  });

  it("gathers what is too small to be seen, and loses no file", () => {
    const many = [file("large", 100_000), ...Array.from({ length: 500 }, (_, i) => file(`small${i}`, 20))];
    const drawn = treemapLayout(tokenTree(many), 1000, 300);
    expect(drawn.map(({ kind, files }) => [kind, files])).toEqual([
      ["file", 1],
      ["rest", 500],
    ]);
  });

  it("draws nothing for a file without tokens", () => {
    expect(treemapLayout(tokenTree([file("empty", 0)]), 1000, 300)).toEqual([]);
  });
});

describe("contextLayout", () => {
  it("fills the context from the left", () => {
    const { parts, limitX } = contextLayout(everythingKnown().acceptance, 32_512);
    expect(limitX).toBe(32_512);
    expect(parts.map(({ kind, x, width }) => [kind, Math.round(x), Math.round(width)])).toEqual([
      ["files", 0, 19_212],
      ["packing", 19_212, 216],
      ["template", 19_428, 12],
      ["reserve", 19_440, 2048],
    ]);
  });

  it("marks where the user's patience ends, if that is in the picture", () => {
    const { acceptance } = everythingKnown();
    expect(contextLayout(acceptance, 32_512, 20_000).patienceX).toBe(20_000);
    expect(contextLayout(acceptance, 32_512, 40_000).patienceX).toBeUndefined();
    expect(contextLayout(acceptance, 32_512).patienceX).toBeUndefined();
  });

  it("moves the end of the context into the picture where the prompt is longer", () => {
    const { parts, limitX } = contextLayout(tooLong().acceptance, 1000);
    expect(limitX).toBeCloseTo((1000 * 16_384) / (19_440 + 2048), 6);
    expect((parts.at(-1)?.x ?? 0) + (parts.at(-1)?.width ?? 0)).toBeCloseTo(1000, 6);
  });

  it("knows no end where there is none", () => {
    expect(contextLayout({ ...tooLong().acceptance, nCtxPerSlot: null }, 1000).limitX).toBeUndefined();
  });
});

describe("deviceLayout", () => {
  it("puts all devices on one scale", () => {
    const rows = deviceLayout(twoDevices.devices, 232);
    expect(rows.map(({ freeX }) => freeX && Math.round(freeX))).toEqual([232, 111, undefined]);
    expect(rows[0]?.parts.map(({ kind, x, width }) => [kind, Math.round(x), Math.round(width)])).toEqual([
      ["weights", 0, 114],
      ["kv", 114, 9],
      ["compute", 123, 4],
    ]);
  });

  it("puts the margin in front of what is free, other programs behind it, and parts of nothing nowhere", () => {
    const device = {
      name: "CUDA0",
      modelBytes: 40,
      contextBytes: 20,
      computeBytes: 5,
      totalBytes: 70,
      freeBytes: 90,
      deviceBytes: 100,
      marginBytes: 10,
      parts: { weights: 40, kv: 15, recurrent: 5, compute: 5, other: 5 },
      interval: { lowBytes: 68, highBytes: 75 },
    };
    const [row] = deviceLayout([device], 200);
    expect(row?.parts.map(({ kind, x, width }) => [kind, Math.round(x), Math.round(width)])).toEqual([
      ["weights", 0, 80],
      ["kv", 80, 30],
      ["state", 110, 10],
      ["compute", 120, 10],
      ["other", 130, 10],
    ]);
    expect(row?.margin).toEqual({ x: 160, width: 20 });
    expect(row?.freeX).toBe(180);
    expect(row?.others).toEqual({ x: 180, width: 20 });
    expect(row?.interval).toEqual([136, 150]);
  });
});

describe("waitLayout", () => {
  it("keeps the band on the axis and the mark in the band", () => {
    const { ticks, low, high, mark } = waitLayout(
      { known: true, seconds: 72, lowSeconds: 66, highSeconds: 80, basis: { deepestDepth: 0, points: 1 } },
      500,
    );
    expect(ticks[0]).toEqual({ x: 0, seconds: 0 });
    expect(low).toBeLessThan(mark);
    expect(mark).toBeLessThan(high);
    expect(high).toBeLessThan(500);
    // 20 s of this axis lie between two ticks
    expect((ticks[1]?.x ?? 0) * (72 / 20)).toBeCloseTo(mark, 6);
  });
});

describe("curveLayout", () => {
  const box = { width: 400, height: 200 };
  const layout = curveLayout(sampleCurve, 19_440, 81_920, box);
  const points = (path: string): number[][] =>
    Array.from(path.matchAll(/[ML](-?[\d.]+),(-?[\d.]+)/g), (match) => [Number(match[1]), Number(match[2])]);

  it("draws a line that rises to the right, inside the box", () => {
    const line = points(layout.line);
    expect(line.length).toBeGreaterThan(40);
    expect(line[0]).toEqual([0, 200]);
    line.forEach(([x = 0, y = 0], i) => {
      expect(x).toBeGreaterThanOrEqual(line[i - 1]?.[0] ?? 0);
      expect(y).toBeLessThanOrEqual(line[i - 1]?.[1] ?? 200);
      expect(y).toBeGreaterThanOrEqual(0);
    });
    expect(layout.last?.x).toBeCloseTo(400, 6);
  });

  it("marks where it was measured, and the prompt, on the line", () => {
    expect(layout.measured.map(({ tokens }) => tokens)).toEqual([8192, 40_960, 73_728]);
    // the first 8,192 tokens took 26.1 s
    expect(layout.measured[0]?.seconds).toBeCloseTo(26.1, 0);
    expect(layout.prompt?.x).toBeCloseTo((400 * 19_440) / 81_920, 6);
  });

  it("marks what the user's patience is enough for, on the line", () => {
    const { patience } = curveLayout(sampleCurve, 19_440, 81_920, box, 40_960);
    // 26.1 + 62.5 s and the chunks between them
    expect(patience?.x).toBeCloseTo(200, 6);
    const line = points(layout.line).find(([x]) => Math.abs((x ?? 0) - 200) < 1);
    expect(patience?.y).toBeCloseTo(line?.[1] ?? 0, 0);
    expect(curveLayout(sampleCurve, 19_440, 81_920, box, 90_000).patience).toBeUndefined();
  });

  it("shows that a short prompt's speed does not last", () => {
    const naive = points(layout.naive).at(-1)?.[1] ?? 0;
    expect(naive).toBeGreaterThan((points(layout.line).at(-1)?.[1] ?? 0) + 20);
  });

  it("ends where nobody knows any more", () => {
    const beyond = curveLayout(sampleCurve, 19_440, 10_000_000, box);
    expect(beyond.last?.tokens).toBeLessThan(2_000_000);
    expect(beyond.last?.x).toBeLessThan(80);
  });
});

describe("shorten", () => {
  it.each(["server.cpp", "日本語のメモ.md", "a", "🦙🦙🦙🦙"])("keeps %s within a width", (name) => {
    expect(shorten(name, textWidth(name))).toBe(name);
    for (let width = 0; width < textWidth(name); width += 3) {
      const short = shorten(name, width);
      expect(textWidth(short)).toBeLessThanOrEqual(width);
      expect(short).toMatch(/^$|…$/);
      expect(short).not.toContain("\ufffd");
    }
  });
});
