import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { repository } from "../../support/repository";
import { pages, textOf } from "./pages";

/** Of a page's headings, as GitHub makes them. */
function anchors(text: string): readonly string[] {
  return Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

const sources = ["src", "test", "bench", "scripts"].flatMap((folder) =>
  readdirSync(path.join(repository, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => !name.startsWith("node_modules"))
    .map((name) => path.basename(name)),
);

/** Paths of the checkout and names of sources that a page quotes and that are not there. */
function missingFiles(text: string): readonly string[] {
  const quoted = Array.from(text.matchAll(/`([\w./-]+)`/g), ([, name = ""]) => name);
  return quoted.filter((name) => {
    if (/^(src|test|bench|scripts|docs|media)\//.test(name)) return !existsSync(path.join(repository, name));
    return /^\w[\w.]*\.(ts|mjs)$/.test(name) && !sources.includes(name);
  });
}

describe("the documents", () => {
  it.each(pages)("has only links to what is there in %s", (page) => {
    const text = textOf(page);
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

  it.each(pages)("quotes only files that are there in %s", (page) => {
    expect(missingFiles(textOf(page))).toEqual([]);
  });

  it("are all found from the index", () => {
    const index = textOf("docs/README.md");
    const others = pages.filter((page) => page.startsWith("docs/") && page !== "docs/README.md");
    expect(others.filter((page) => !index.includes(`(${path.relative("docs", page)})`))).toEqual([]);
  });

  it("say in the README, in at most 900 words, how to start and to test", () => {
    const readme = textOf("README.md");
    expect(readme.trim().split(/\s+/).length).toBeLessThanOrEqual(900);
    for (const command of ["npm start", "npm test", "npm test -- quick", "npm run package"]) {
      expect(readme).toMatch(new RegExp(`^${command}( +#|$)`, "m"));
    }
  });
});

describe("missingFiles", () => {
  it("finds what is not there", () => {
    const text =
      "See `src/core/text.ts`, `src/core/gone.ts`, `layering.test.ts`, `gone.test.ts` and `tasks.json`.";
    expect(missingFiles(text)).toEqual(["src/core/gone.ts", "gone.test.ts"]);
  });
});
