import { readFile } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { beforeAll, describe, expect, it } from "vitest";
import { repository } from "../../support/repository";
import { zipEntries } from "../../support/zipEntries";
import { zipText } from "../../support/zipText";

let printed: string;
let archive: Buffer;
let entries: Map<string, number>;

beforeAll(async () => {
  printed = (await execa(process.execPath, ["scripts/package.mjs"], { cwd: repository, timeout: 120_000 }))
    .stdout;
  archive = await readFile(path.join(repository, "out/llama-gauge.vsix"));
  entries = zipEntries(archive);
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
    expect(archive.length).toBeLessThan(2 * 1024 * 1024);
    const unpacked = [...entries.values()].reduce((sum, size) => sum + size, 0);
    expect(unpacked).toBeLessThan(8 * 1024 * 1024);
  });

  it("packs code without source maps, without comments about them and without paths of this machine", () => {
    const programs = [...entries.keys()].filter((name) => name.startsWith("extension/dist/"));
    expect(programs.filter((name) => name.endsWith(".map"))).toEqual([]);
    for (const name of programs) {
      const text = zipText(archive, name);
      expect([name, /\/[/*][#@] sourceMappingURL=/.test(text), text.includes(repository)]).toEqual([
        name,
        false,
        false,
      ]);
    }
  });

  it("lists every bundled package with its licence, and packs none that only tests need", async () => {
    const { dependencies, devDependencies } = JSON.parse(
      await readFile(path.join(repository, "package.json"), "utf8"),
    ) as Readonly<Record<"dependencies" | "devDependencies", Readonly<Record<string, string>>>>;
    const heads = Array.from(
      zipText(archive, "extension/NOTICE").matchAll(/^={80}\n(\S+) (\S+) \((.+)\)$/gm),
      ([, name = "", version = "", licence = ""]) => ({ name, version, licence }),
    );
    const named = new Map(heads.map(({ name, version }) => [name, version]));
    for (const [name, version] of Object.entries(dependencies))
      expect([name, named.get(name)]).toEqual([name, version]);
    expect(Object.keys(devDependencies).filter((name) => named.has(name))).toEqual([]);
    const licences = new Set(heads.map(({ licence }) => licence));
    expect(
      [...licences].filter(
        (licence) => !/^(MIT|ISC|Apache-2\.0|0?BSD(-[23]-Clause)?|BlueOak-1\.0\.0)$/.test(licence),
      ),
    ).toEqual([]);
    // what only tests need leaves its name in its own code
    const programs = [...entries.keys()].filter((name) => name.startsWith("extension/dist/"));
    const code = programs.map((name) => zipText(archive, name)).join("\n");
    expect(/axe-core|axe\.run|playwright|vitest/.exec(code)).toBeNull();
  });

  it("leaves the manifest whole that VS Code reads", async () => {
    const manifest = JSON.parse(await readFile(path.join(repository, "package.json"), "utf8")) as {
      main: string;
    };
    expect(entries.has(path.posix.join("extension", manifest.main))).toBe(true);
  });
});
