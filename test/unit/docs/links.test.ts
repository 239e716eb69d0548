import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { repository } from "../../support/repository";

const pages = [
  ...["README.md", "CONTRIBUTING.md", "CHANGELOG.md"],
  ...["docs", "media/walkthrough", "bench"].flatMap((folder) =>
    readdirSync(path.join(repository, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${folder}/${name}`),
  ),
];

describe("the documents", () => {
  it.each(pages)("has only links to what is there in %s", (page) => {
    const text = readFileSync(path.join(repository, page), "utf8");
    const targets = Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), (match) => match[1] ?? "");
    const broken = targets.filter((target) => {
      if (/^[a-z]+:/.test(target)) return false;
      const [file = "", anchor] = target.split("#");
      const there = path.join(repository, path.dirname(page), file);
      if (file !== "" && !existsSync(there)) return true;
      return (
        anchor !== undefined && !anchors(file === "" ? text : readFileSync(there, "utf8")).includes(anchor)
      );
    });
    expect(broken).toEqual([]);
  });

  it("are all found from the index", () => {
    const index = readFileSync(path.join(repository, "docs/README.md"), "utf8");
    const others = pages.filter((page) => page.startsWith("docs/") && page !== "docs/README.md");
    expect(others.filter((page) => !index.includes(`(${path.basename(page)})`))).toEqual([]);
  });
});

/** Of a page's headings, as GitHub makes them. */
function anchors(text: string): readonly string[] {
  return Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
