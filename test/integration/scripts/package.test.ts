import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
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

/** Links and pictures of a page that have no address of their own. */
const relative = (text: string): string[] => text.match(/\]\((?!https:\/\/|#)[^)]*\)/g) ?? [];

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
    // drawn on the page, and drawn as a PNG
    const drawings = ["screenshot.png", "screenshot.drawn.md", "icon.svg"].map(
      (name) => `extension/media/${name}`,
    );
    expect(drawings.filter((name) => entries.has(name))).toEqual([]);
  });

  it("keeps the VSIX small and says its size", () => {
    expect(printed).toMatch(/^out\/llama-gauge\.vsix {2}\d+ KiB$/m);
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

  it("has an icon, and no more tags than the store takes", () => {
    expect(zipText(archive, "extension/package.json")).toContain('"icon": "media/icon.png"');
    expect(entries.get("extension/media/icon.png")).toBeGreaterThan(0);
    // keywords, and what vsce adds for languages; https://code.visualstudio.com/api/references/extension-manifest: 30 at most
    const [, tags = ""] = /<Tags>(.*)<\/Tags>/.exec(zipText(archive, "extension.vsixmanifest")) ?? [];
    expect(tags.split(",")).toContain("gguf");
    expect(tags.split(",").length).toBeLessThanOrEqual(30);
  });

  it("packs pages without links that lead nowhere, and says what is missing for want of a repository", async () => {
    for (const page of ["readme", "changelog"])
      expect([page, relative(zipText(archive, `extension/${page}.md`))]).toEqual([page, []]);
    const { repository: address } = JSON.parse(
      await readFile(path.join(repository, "package.json"), "utf8"),
    ) as { readonly repository?: unknown };
    expect(printed.includes('package.json names no "repository"')).toBe(address === undefined);
  });

  it("takes addresses from the repository in package.json, where there is one", async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), "lg-package-"));
    try {
      const target = path.join(folder, "linked.vsix");
      const script = pathToFileURL(path.join(repository, "scripts/package.mjs")).href;
      const { packageExtension } = (await import(script)) as {
        packageExtension: (options: object) => Promise<string>;
      };
      const manifest = JSON.parse(await readFile(path.join(repository, "package.json"), "utf8")) as object;
      const said: string[] = [];
      await packageExtension({
        target,
        manifest: { ...manifest, repository: "https://github.com/somebody/something" },
        say: (line: string) => said.push(line),
      });
      const linked = await readFile(target);
      const readme = zipText(linked, "extension/readme.md");
      expect(said).toEqual([]);
      expect(relative(readme)).toEqual([]);
      expect(readme).toContain("](https://github.com/somebody/something/raw/HEAD/media/screenshot.png)");
      expect(readme).toContain("](https://github.com/somebody/something/blob/HEAD/docs/");
      expect(zipText(linked, "extension.vsixmanifest")).toContain(
        'Id="Microsoft.VisualStudio.Services.Links.Support" Value="https://github.com/somebody/something/issues"',
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }, 120_000);

  it("leaves the manifest whole that VS Code reads", async () => {
    const manifest = JSON.parse(await readFile(path.join(repository, "package.json"), "utf8")) as {
      main: string;
    };
    expect(entries.has(path.posix.join("extension", manifest.main))).toBe(true);
  });
});
