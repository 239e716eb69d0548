import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { repository } from "../../support/repository";

type ExtensionPage = (
  root: string,
  options: { readonly repository: boolean },
) => { readonly text: string; readonly unlinked: readonly string[] };

const script = pathToFileURL(path.join(repository, "scripts/extensionPage.mjs")).href;
const { extensionPage } = (await import(script)) as { readonly extensionPage: ExtensionPage };

let root: string;
beforeEach(() => void (root = mkdtempSync(path.join(os.tmpdir(), "lg-page-"))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

function checkout(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
}

const textOf = (files: Readonly<Record<string, string>>): string => {
  checkout(files);
  return extensionPage(root, { repository: false }).text;
};

describe("the extension's page where no repository is known", () => {
  it("has the drawing in the picture's place", () => {
    const text = textOf({
      "README.md": "before ![the panel](media/a.png) after\n",
      "media/a.drawn.md": "████\n",
    });
    expect(text).toBe('before <div id="media-a">\n\n████\n\n</div> after\n');
  });

  it("says in words what a picture without a drawing shows", () => {
    const files = { "README.md": "![the panel](docs/a.png)\n", "docs/a.md": "# A page, no drawing\n" };
    expect(textOf(files)).toBe("_the panel_\n");
  });

  it("has the pages that links lead to, and those that these lead to, once each", () => {
    const text = textOf({
      "README.md": "[the `-c` wait](docs/wait.md) and\n[again](docs/wait.md#how-it-works)\n",
      "docs/wait.md": "# Wait\n\n## How it works\n\n[evidence](evidence/wait.md) [back](../README.md)\n",
      "docs/evidence/wait.md": "# Evidence\n\n[how](../wait.md#how-it-works)\n",
    });
    expect(text.split("\n---\n\n")).toEqual([
      "[the `-c` wait](#docs-wait) and\n[again](#docs-wait--how-it-works)\n",
      [
        '# <span id="docs-wait--wait"></span><span id="docs-wait"></span>Wait',
        '## <span id="docs-wait--how-it-works"></span>How it works',
        "[evidence](#docs-evidence-wait) [back](#)\n",
      ].join("\n\n"),
      [
        '# <span id="docs-evidence-wait--evidence"></span><span id="docs-evidence-wait"></span>Evidence',
        "[how](#docs-wait--how-it-works)\n",
      ].join("\n\n"),
    ]);
  });

  it("names headings as GitHub does: without signs and links, numbered when they repeat, none in code", () => {
    const text = textOf({
      "README.md": "[a](docs/a.md)\n",
      "docs/a.md":
        "# A\n\n## What `-c` is, [here](a.md)\n\n## Limits\n\n## Limits\n\n```sh\n# a comment\n```\n",
    });
    expect(Array.from(text.matchAll(/id="docs-a--([^"]+)"/g), ([, id]) => id)).toEqual([
      ...["a", "what--c-is-here", "limits", "limits-1"],
    ]);
    expect(text).toContain("```sh\n# a comment\n```");
  });

  it("leaves addresses and code alone, also code that wraps or holds a backtick", () => {
    const same =
      "[site](https://llama.example) `[x](y.md)` `a\n[b](c.md)`\n\n```md\n![p](a.png)\n```\n\n``[`](d.md)``\n";
    expect(textOf({ "README.md": `${same}[x](y.md)` })).toBe(`${same}x`);
  });

  it("unlinks what the page cannot reach, and says so", () => {
    checkout({ "README.md": "see [CONTRIBUTING](CONTRIBUTING.md)\n", "CONTRIBUTING.md": "" });
    expect(extensionPage(root, { repository: false })).toEqual({
      text: "see CONTRIBUTING\n",
      unlinked: ["CONTRIBUTING.md"],
    });
  });
});

it("keeps pictures and links for vsce where a repository is known, with the drawing folded below", () => {
  const readme = "![the panel](media/a.png)\n\n[docs](docs/a.md)\n";
  checkout({ "README.md": readme, "media/a.drawn.md": "████\n", "docs/a.md": "# A\n" });
  const { text, unlinked } = extensionPage(root, { repository: true });
  expect(unlinked).toEqual([]);
  expect(text.replace(/\n\n<details>[\s\S]*<\/details>/, "")).toBe(readme);
  expect(text).toMatch(/<summary>.+<\/summary>\s+<div id="media-a">\s+████\s+<\/div>\s+<\/details>/);
});
