import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { commandIds } from "../../../src/client/commandIds";
import { tooltipCommands } from "../../../src/client/statusView";
import { repository } from "../../support/repository";

interface MenuItem {
  readonly command: string;
  readonly when?: string;
}

interface Command {
  readonly command: string;
  readonly category?: string;
  readonly title: string;
}

interface Manifest {
  readonly publisher: string;
  readonly l10n: string;
  readonly extensionKind: readonly string[];
  readonly capabilities: Readonly<Record<string, { readonly supported: string }>>;
  readonly contributes: {
    readonly commands: readonly Command[];
    readonly menus: Readonly<Record<string, readonly MenuItem[]>>;
    readonly keybindings?: unknown;
    readonly viewsWelcome: readonly { readonly contents: string }[];
  };
}

const text = (name: string): string => readFileSync(path.join(repository, name), "utf8");
const manifest = JSON.parse(text("package.json")) as Manifest;
const strings = (name: string): Readonly<Record<string, string>> =>
  JSON.parse(text(name)) as Readonly<Record<string, string>>;
const languages = ["package.nls.json", "package.nls.ja.json"];

describe("the manifest", () => {
  it("declares the commands that the extension has", () => {
    expect(manifest.contributes.commands.map(({ command }) => command).toSorted()).toEqual(
      [...commandIds].toSorted(),
    );
    // menus show the title alone, so the one for the Explorer carries the name itself
    const named = (text: Readonly<Record<string, string>>, { category, title }: Command): boolean =>
      category === "Llama Gauge" || text[title.slice(1, -1)]?.startsWith("Llama Gauge: ") === true;
    for (const name of languages) {
      expect(manifest.contributes.commands.filter((command) => !named(strings(name), command))).toEqual([]);
    }
  });

  it("offers only those in menus, links and tooltips", () => {
    const inMenus = Object.values(manifest.contributes.menus).flatMap((items) =>
      items.map(({ command }) => command),
    );
    const inLinks = languages.flatMap((name) =>
      Array.from(text(name).matchAll(/command:([\w.]+)/g), (match) => match[1] ?? ""),
    );
    expect(inLinks.length).toBeGreaterThan(0);
    const known = new Set<string>(commandIds);
    expect([...inMenus, ...inLinks, ...tooltipCommands].filter((id) => !known.has(id))).toEqual([]);
  });

  it("takes no keys", () => {
    expect(manifest.contributes.keybindings).toBeUndefined();
  });

  it("works the same in remote windows: no condition names the local scheme", () => {
    const conditions = Object.values(manifest.contributes.menus).flatMap((items) =>
      items.map(({ when }) => when ?? ""),
    );
    expect(conditions.filter((when) => /resourceScheme\s*==/.test(when))).toEqual([]);
    expect(manifest.extensionKind).toEqual(["workspace"]);
  });

  it("says what is limited in untrusted and virtual workspaces", () => {
    expect(manifest.capabilities["untrustedWorkspaces"]?.supported).toBe("limited");
    expect(manifest.capabilities["virtualWorkspaces"]?.supported).toBe("limited");
  });

  it.each(languages)("has every text in %s and no other", (name) => {
    const used = Array.from(text("package.json").matchAll(/"%([\w.]+)%"/g), (match) => match[1] ?? "");
    expect(Object.keys(strings(name)).toSorted()).toEqual([...new Set(used)].toSorted());
    expect(Object.values(strings(name)).filter((value) => value.trim() === "")).toEqual([]);
  });

  it("keeps code words and links as they are in every language", () => {
    const [english = "", ...others] = languages;
    const marks = (value: string): readonly string[] =>
      (value.match(/`[^`]+`|\(command:[\w.]+\)/g) ?? []).toSorted();
    for (const name of others) {
      for (const [key, value] of Object.entries(strings(english))) {
        expect([key, marks(strings(name)[key] ?? "")]).toEqual([key, marks(value)]);
      }
    }
  });

  it("finds its translations where it says", () => {
    expect(existsSync(path.join(repository, manifest.l10n, "bundle.l10n.ja.json"))).toBe(true);
  });
});
