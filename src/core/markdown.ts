import { visibleName } from "./visibleName";
import type { Shown } from "./shown";

declare const markdownBrand: unique symbol;

/** Markdown whose markup is all ours: foreign text gets into it through `md` and `inMarkdown` only. */
export type Markdown = string & { readonly [markdownBrand]: true };

/** Tag of Markdown: what is put into it stays text. md`**${name}**` is bold whatever the name says. */
export function md(strings: TemplateStringsArray, ...texts: readonly Shown[]): Markdown {
  return strings.reduce((all, string, i) => `${all}${inMarkdown(texts[i - 1] ?? "")}${string}`) as Markdown;
}

/**
 * Foreign text as Markdown that shows just that, in one line: no markup, HTML, entity or formula, and no address or name
 * that GitHub's dialect would make a link of by itself. For VS Code and for reports that are posted elsewhere.
 */
export function inMarkdown(text: string): Markdown {
  return visibleName(text.replaceAll(/\s+/g, " "))
    .replaceAll(
      /[\\`*{}[\]<>#|~&$@]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|:(?=\/\/)|(?<=\bwww)\.|^[-+=](?=[-+= ]|$)|(?<=^\d+)[.)](?= |$)/giu,
      "\\$&",
    )
    .replaceAll(/(?<=\$)(?=\()/g, "\u2060") as Markdown;
}

export const paragraphs = (parts: readonly Markdown[]): Markdown =>
  parts.filter((part) => part !== "").join("\n\n") as Markdown;

export const inLine = (parts: readonly Markdown[]): Markdown => parts.join(" · ") as Markdown;

export const bulletList = (items: readonly Markdown[]): Markdown =>
  items.map((item) => `- ${item}`).join("\n") as Markdown;

/** @param align of each column */
export function markdownTable(
  head: readonly Markdown[],
  rows: readonly (readonly Markdown[])[],
  align: (column: number) => ":--" | "--:" | "---" = () => "---",
): Markdown {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, column) => align(column))), ...rows.map(line)].join("\n") as Markdown;
}

/** Text as it is; the fence is longer than any in it. */
export function codeBlock(text: string, language = ""): Markdown {
  let longest = 2;
  for (const [ticks] of text.matchAll(/`+/g)) longest = Math.max(longest, ticks.length);
  const fence = "`".repeat(longest + 1);
  const lines = text.replaceAll(/[^\t\r\n]+/g, visibleName).replaceAll(/\r\n?/g, "\n");
  return `${fence}${language}\n${lines}\n${fence}` as Markdown;
}

export const heading = (title: Markdown): Markdown => `## ${title}` as Markdown;

/** A link to a line of a file, from 1. @param address of the file, encoded */
export const lineLink = (title: Shown, address: string, line: number): Markdown =>
  `[${inMarkdown(title)}](${address}#L${String(line)})` as Markdown;

/** A link that runs a command, in a text that is allowed to. */
export const commandLink = (title: Shown, command: string): Markdown =>
  `[${inMarkdown(title)}](command:${command})` as Markdown;
