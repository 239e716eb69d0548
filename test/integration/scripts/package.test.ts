import { readFile } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { beforeAll, describe, expect, it } from "vitest";
import { repository } from "../../support/repository";
import { zipEntries } from "../../support/zipEntries";

let printed: string;
let entries: Map<string, number>;

beforeAll(async () => {
  printed = (await execa(process.execPath, ["scripts/package.mjs"], { cwd: repository, timeout: 120_000 }))
    .stdout;
  entries = zipEntries(await readFile(path.join(repository, "out/llama-gauge.vsix")));
});

describe("npm run package", () => {
  it("packs the five programs and the licences", () => {
    for (const name of ["extension", "languageServer", "worker", "cli", "webview"]) {
      expect(entries.get(`extension/dist/${name}.js`), name).toBeGreaterThan(0);
    }
    expect(entries.get("extension/LICENSE.txt")).toBeGreaterThan(0);
    expect(entries.get("extension/NOTICE")).toBeGreaterThan(0);
  });

  it("packs nothing that only the checkout needs", () => {
    const needed =
      /^(extension\.vsixmanifest|\[Content_Types\]\.xml|extension\/(package(\.nls(\.[\w-]+)?)?\.json|readme\.md|changelog\.md|LICENSE\.txt|NOTICE|dist\/\w+\.(js|css)|l10n\/[\w.-]+\.json|docs\/presets\.md|(media|syntaxes)\/[\w./-]+))$/;
    expect([...entries.keys()].filter((name) => !needed.test(name))).toEqual([]);
  });

  it("keeps the VSIX small and says its size", () => {
    expect(printed).toMatch(/^out\/llama-gauge\.vsix {2}\d+ KiB$/);
    const unpacked = [...entries.values()].reduce((sum, size) => sum + size, 0);
    expect(unpacked).toBeLessThan(8 * 1024 * 1024);
  });

  it("leaves the manifest whole that VS Code reads", async () => {
    const manifest = JSON.parse(await readFile(path.join(repository, "package.json"), "utf8")) as {
      main: string;
    };
    expect(entries.has(path.posix.join("extension", manifest.main))).toBe(true);
  });
});
