import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { agentTools } from "../../../src/core/agents/agentTools";
import { commandIds } from "../../../src/client/editor/commandIds";
import { tooltipCommands } from "../../../src/client/statusBar/statusView";
import { repository } from "../../support/repository";

interface MenuItem {
  readonly command: string;
  readonly when?: string;
}

interface Command {
  readonly command: string;
  readonly category?: string;
  readonly title: string;
  readonly enablement?: string;
}

interface Step {
  readonly completionEvents: readonly string[];
  readonly media: { readonly markdown?: string; readonly image?: Readonly<Record<string, string>> };
}

interface Setting {
  readonly type: string;
  readonly scope?: string;
  readonly order: number;
  readonly markdownDescription: string;
}

interface Manifest {
  readonly publisher: string;
  readonly l10n: string;
  readonly extensionKind: readonly string[];
  readonly categories: readonly string[];
  readonly keywords: readonly string[];
  readonly capabilities: Readonly<
    Record<string, { readonly supported: string; readonly restrictedConfigurations?: readonly string[] }>
  >;
  readonly contributes: {
    readonly commands: readonly Command[];
    readonly menus: Readonly<Record<string, readonly MenuItem[]>>;
    readonly languageModelTools: readonly {
      readonly name: string;
      readonly modelDescription: string;
      readonly inputSchema: unknown;
    }[];
    readonly keybindings?: unknown;
    readonly viewsWelcome: readonly { readonly contents: string; readonly when?: string }[];
    readonly walkthroughs: readonly { readonly steps: readonly Step[] }[];
    readonly configuration: readonly { readonly properties: Readonly<Record<string, Setting>> }[];
  };
}

const text = (name: string): string => readFileSync(path.join(repository, name), "utf8");
const manifest = JSON.parse(text("package.json")) as Manifest;
const strings = (name: string): Readonly<Record<string, string>> =>
  JSON.parse(text(name)) as Readonly<Record<string, string>>;
/** The keys that the extension sets. */
const readContextKeys = (): readonly string[] =>
  text("src/client/editor/contextKeys.ts").match(/llamaGauge\.\w+/g) ?? [];

/** Whether a condition made of `&&`, `!` and comparisons with a number holds. */
function holds(when: string, facts: Readonly<Record<string, boolean | number>>): boolean {
  return when.split(" && ").every((part) => {
    const [, not, name = "", operator, number] =
      /^(!?)(?:llamaGauge\.)?(\w+)(?: (==|!=) (\d+))?$/.exec(part) ?? [];
    const value = facts[name] ?? false;
    if (operator === undefined) return (value === true) !== (not === "!");
    return (value === Number(number)) === (operator === "==");
  });
}

const languages = ["package.nls.json", "package.nls.ja.json"];

/** EXTENSION_CATEGORIES of VS Code's src/vs/platform/extensions/common/extensions.ts, the same in 1.100 and 1.139. */
const storeCategories = [
  ...["AI", "Azure", "Chat", "Data Science", "Debuggers", "Extension Packs", "Education", "Formatters"],
  ...["Keymaps", "Language Packs", "Linters", "Machine Learning", "Notebooks", "Programming Languages"],
  ...["SCM Providers", "Snippets", "Testing", "Themes", "Visualization", "Other"],
];

describe("the manifest", () => {
  it("declares the agents' tools as the command line offers them", () => {
    const declared = manifest.contributes.languageModelTools.map((tool) => [
      tool.name,
      tool.modelDescription,
      tool.inputSchema,
    ]);
    expect(declared).toEqual(
      agentTools.map(({ name, description, inputSchema }) => [
        `llamaGauge_${name}`,
        description,
        inputSchema,
      ]),
    );
  });

  it("names categories that the store has, and every keyword once", () => {
    const { categories, keywords } = manifest;
    expect(categories.filter((name) => !storeCategories.includes(name))).toEqual([]);
    expect(new Set(keywords).size).toBe(keywords.length);
  });

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
    const known = new Set<string>([...commandIds, "vscode.openFolder"]);
    expect([...inMenus, ...inLinks, ...tooltipCommands].filter((id) => !known.has(id))).toEqual([]);
  });

  it("names commands so that one knows what happens, and offers them only where they can do something", () => {
    const { commands, menus } = manifest.contributes;
    for (const { title } of commands) {
      const english = strings("package.nls.json")[title.slice(1, -1)] ?? "";
      // "Estimate", "Choose", "Show" …: a verb first, in title case, and an ellipsis where something is asked
      expect(english).toMatch(/^(Llama Gauge: )?[A-Z][a-z]+ /);
      expect(english).not.toMatch(/\.$|\.\.\./);
      const asks = /^(Choose|Set) |Git Changes/.test(english);
      expect([english, english.endsWith("…")]).toEqual([english, asks]);
      const japanese = strings("package.nls.ja.json")[title.slice(1, -1)] ?? "";
      expect([japanese, japanese.endsWith("…")]).toEqual([japanese, asks]);
    }
    const conditions = [
      ...commands.map(({ enablement }) => enablement),
      ...Object.values(menus).flatMap((items) => items.map(({ when }) => when)),
      ...manifest.contributes.viewsWelcome.map(({ when }) => when),
    ];
    const keys = new Set(readContextKeys());
    const ours = conditions.flatMap((condition) => condition?.match(/llamaGauge\.\w+/g) ?? []);
    expect(ours.filter((key) => key !== "llamaGauge.tokens" && !keys.has(key))).toEqual([]);
    // every entry of a menu says when it makes sense
    const always = Object.values(menus).flatMap((items) => items.filter(({ when }) => when === undefined));
    expect(always).toEqual([]);
  });

  it("welcomes in every situation of an empty view, and in one way at a time", () => {
    const conditions = manifest.contributes.viewsWelcome.map(({ when = "" }) => when);
    expect(conditions.every((when) => when.startsWith("!llamaGauge.hasReport && "))).toBe(true);
    for (const counting of [true, false]) {
      for (const virtualWorkspace of [true, false]) {
        for (const workspaceFolderCount of [0, 1]) {
          const facts = { counting, virtualWorkspace, workspaceFolderCount };
          // a folder that is not on a disk is a folder
          if (virtualWorkspace && workspaceFolderCount === 0) continue;
          expect([facts, conditions.filter((when) => holds(when, facts)).length]).toEqual([facts, 1]);
        }
      }
    }
  });

  it("walks through in four or five steps, each with a picture or page and an end that can be reached", () => {
    const [walkthrough, ...others] = manifest.contributes.walkthroughs;
    expect(others).toEqual([]);
    const steps = walkthrough?.steps ?? [];
    expect([4, 5]).toContain(steps.length);
    const keys = new Set(readContextKeys());
    for (const { completionEvents, media } of steps) {
      expect(completionEvents.length).toBeGreaterThan(0);
      for (const event of completionEvents) {
        const [kind, subject = ""] = event.split(":");
        if (kind === "onContext") expect(keys).toContain(subject);
        else expect([kind, commandIds]).toEqual(["onCommand", expect.arrayContaining([subject])]);
      }
      const files =
        media.markdown === undefined
          ? Object.values(media.image ?? {})
          : languages.map((name) => strings(name)[media.markdown?.slice(1, -1) ?? ""] ?? "missing");
      expect(files.length).toBeGreaterThan(0);
      expect(files.filter((file) => !existsSync(path.join(repository, file)))).toEqual([]);
    }
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

  it("groups its settings, in an order of their own, each with a scope and numbers with their unit", () => {
    const groups = manifest.contributes.configuration;
    expect(groups.length).toBeGreaterThan(1);
    const settings = groups.flatMap(({ properties }) => Object.entries(properties));
    for (const { properties } of groups) {
      const orders = Object.values(properties).map(({ order }) => order);
      expect(orders).toEqual(orders.map((_, i) => i + 1));
    }
    const describe = (name: string, key: string): string => strings(name)[key.slice(1, -1)] ?? "";
    for (const [, { type, markdownDescription }] of settings.filter(([, { type }]) => type !== "boolean")) {
      if (type !== "integer" && type !== "number") continue;
      expect(describe("package.nls.json", markdownDescription)).toMatch(/\b(bytes|tokens|files|seconds)\b/);
      expect(describe("package.nls.ja.json", markdownDescription)).toMatch(/バイト|トークン|ファイル|秒/);
    }
  });

  it("syncs nothing that belongs to one machine", () => {
    // VS Code leaves settings of these scopes out of Settings Sync, as it does with our workspace state and secrets
    const perMachine = manifest.contributes.configuration
      .flatMap(({ properties }) => Object.entries(properties))
      .filter(([, { scope }]) => scope === "machine" || scope === "machine-overridable")
      .map(([key]) => key);
    const { restrictedConfigurations = [] } = manifest.capabilities["untrustedWorkspaces"] ?? {};
    // what an untrusted workspace may not set are addresses, paths and arguments: exactly those
    expect(perMachine.toSorted()).toEqual(restrictedConfigurations.toSorted());
    const code = readdirSync(path.join(repository, "src/client"), { recursive: true, encoding: "utf8" });
    expect(
      code.filter((file) => file.endsWith(".ts") && text(`src/client/${file}`).includes("setKeysForSync")),
    ).toEqual([]);
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
