import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { commands } from "../../../src/cli/run/program";
import { pages, sectionOf, tableRows, textOf } from "./pages";

interface Manifest {
  readonly contributes: {
    readonly commands: readonly { readonly title: string }[];
    readonly configuration: readonly {
      readonly properties: Readonly<Record<string, { readonly default: unknown }>>;
    }[];
  };
}

const manifest = JSON.parse(textOf("package.json")) as Manifest;
const english = JSON.parse(textOf("package.nls.json")) as Readonly<Record<string, string>>;
const japanese = JSON.parse(textOf("package.nls.ja.json")) as Readonly<Record<string, string>>;
const titlesIn = (texts: Readonly<Record<string, string>>): readonly string[] =>
  manifest.contributes.commands.map(({ title }) =>
    (texts[title.slice(1, -1)] ?? "").replace("Llama Gauge: ", ""),
  );
const titles = titlesIn(english);
const code = (cell = ""): string => /`(.+)`/.exec(cell)?.[1] ?? "";

describe("docs/settings.md", () => {
  it("has every setting with its default, and no other", () => {
    const described = tableRows(textOf("docs/settings.md"))
      .filter(([name]) => code(name).startsWith("llamaGauge."))
      .map(([name, value]) => [code(name), JSON.parse(code(value)) as unknown]);
    const declared = manifest.contributes.configuration.flatMap(({ properties }) =>
      Object.entries(properties).map(([name, setting]) => [name, setting.default]),
    );
    expect(described).toEqual(declared);
  });
});

describe("docs/commands.md", () => {
  const text = textOf("docs/commands.md");

  it("has every command of the editor, and no other", () => {
    const described = tableRows(sectionOf(text, "## In VS Code")).flatMap(([name = ""]) =>
      Array.from(name.matchAll(/^\*\*(.+)\*\*$/g), ([, title = ""]) => title),
    );
    expect(described.toSorted()).toEqual(titles.toSorted());
  });

  it("has every command of the command line and every option, and no other", async () => {
    const program = new Command();
    for (const load of Object.values(commands)) {
      const add = await load();
      add(program, { signal: new AbortController().signal, serverArguments: [], finish: () => undefined });
    }
    const real = program.commands.map((command) => command.name());
    const listed = tableRows(sectionOf(text, "## Command line")).map(([name]) => code(name).split(" ")[0]);
    expect(new Set(listed.filter((name) => name !== undefined && real.includes(name)))).toEqual(
      new Set(real),
    );

    const described = new Map(real.map((name) => [name, new Set<string>()]));
    let current: readonly string[] = [];
    for (const [names = "", option] of tableRows(sectionOf(text, "### Options"))) {
      if (names !== "") current = Array.from(names.matchAll(/`([\w-]+)`/g), ([, name = ""]) => name);
      for (const name of current) described.get(name)?.add(code(option).replace("\\|", "|"));
    }
    for (const command of program.commands) {
      const flags = command.options.map((option) => option.flags).filter((flag) => flag !== "--json");
      expect([command.name(), [...(described.get(command.name()) ?? [])].toSorted()]).toEqual([
        command.name(),
        flags.toSorted(),
      ]);
    }
  });
});

describe("commands named in sentences", () => {
  const isTitle = (name: string, all: readonly string[]): boolean =>
    all.some((title) => name.startsWith(title.replace(/…$/, "")));

  it.each(pages.filter((page) => !page.endsWith(".ja.md")))("exist in %s", (page) => {
    const text = textOf(page).replaceAll(/\s+/g, " ");
    const named = Array.from(text.matchAll(/Llama Gauge: ([A-Z][^*`]+)/g), ([, name = ""]) => name);
    expect(named.filter((name) => !isTitle(name, titles))).toEqual([]);
  });

  it("exist in the manifest's texts and on screen, in both languages", () => {
    const bundle = JSON.parse(textOf("media/l10n/bundle.l10n.ja.json")) as Readonly<Record<string, string>>;
    const namedIn = (texts: readonly string[], pattern: RegExp): readonly string[] =>
      texts.flatMap((text) => Array.from(text.matchAll(pattern), ([, name = ""]) => name));
    const said = [...Object.values(english), ...Object.keys(bundle)];
    const inEnglish = namedIn(said, /Llama Gauge: ([A-Z][^*”"]+)/g);
    expect(inEnglish.length).toBeGreaterThan(3);
    expect(inEnglish.filter((name) => !isTitle(name, titles))).toEqual([]);
    const inJapanese = namedIn(
      [...Object.values(japanese), ...Object.values(bundle)],
      /(?:[「*(])Llama Gauge: ([^*」)]+)/g,
    );
    expect(inJapanese.length).toBeGreaterThan(3);
    expect(inJapanese.filter((name) => !isTitle(name, titlesIn(japanese)))).toEqual([]);
  });
});
