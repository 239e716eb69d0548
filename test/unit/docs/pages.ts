import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { repository } from "../../support/repository";

/** The Markdown documents, from the root of the checkout. */
export const pages: readonly string[] = [
  ...["README.md", "CONTRIBUTING.md", "CHANGELOG.md"],
  ...["docs", "docs/evidence", "media/walkthrough"].flatMap((folder) =>
    readdirSync(path.join(repository, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${folder}/${name}`),
  ),
];

export const textOf = (file: string): string => readFileSync(path.join(repository, file), "utf8");

/** The cells of each row of the tables in a text, heads included. */
export function tableRows(text: string): readonly (readonly string[])[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^\|[ :|-]+\|$/.test(line))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** What follows a heading, to the next one of the same or a higher level. */
export function sectionOf(text: string, heading: string): string {
  const [marks = ""] = /^#+/.exec(heading) ?? [];
  const start = text.indexOf(`\n${heading}\n`);
  if (start < 0) throw new Error(`no heading ${heading}`);
  const rest = text.slice(start + heading.length + 2);
  const end = rest.search(new RegExp(`^#{1,${marks.length}} `, "m"));
  return end < 0 ? rest : rest.slice(0, end);
}
