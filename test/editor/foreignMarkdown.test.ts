import assert from "node:assert/strict";
import { commands } from "vscode";
import { bulletList, codeBlock, inMarkdown, markdownTable, paragraphs } from "../../src/core/markdown";
import { SeededRandom } from "../support/seededRandom";

const hostile = [
  "[click](command:workbench.action.terminal.new)",
  "![image](https://example.org/x.png)",
  "<img src=x onerror=alert(1)> &lt;b&gt; <!-- note -->",
  "https://example.org, www.example.org, HTTP://example.org and somebody@example.org",
  "<https://example.org>",
  "[reference][1] and [1]: https://example.org",
  "# heading",
  "- item",
  "1. first",
  "1) first",
  "+ item",
  "===",
  "---",
  "> quotation",
  "a | b",
  "`code` and ``` fence",
  "**bold** _italic_ __bold__ ~~gone~~ $x^2$ $$y$$",
  "q4_0 and _q4_0_",
  "\\[escaped\\]",
  "two\n\n# paragraphs",
  "\\",
];

const render = async (text: string): Promise<string> => {
  const html = await commands.executeCommand<string>("markdown.api.render", text);
  // of a built-in extension, in front of every page
  return html.replace(/<span id="markdown-mermaid"[^>]*><\/span>/, "");
};

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };
const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/&(\w+);/g, (whole, name: string) => entities[name] ?? whole)
    .trim();

/** As it should be read: one line, and no more blanks than Markdown keeps. */
const read = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

describe("foreign text in Markdown, as VS Code renders it", () => {
  for (const text of hostile) {
    it(`stays text: ${JSON.stringify(text)}`, async () => {
      const written = inMarkdown(text);
      const page = paragraphs([written, bulletList([written]), markdownTable([written], [[written]])]);
      const html = await render(page);
      const tags = new Set(Array.from(html.matchAll(/<\/?(\w+)/g), ([, name]) => name));
      assert.deepEqual(
        [...tags].filter((name) => !/^(p|ul|li|table|thead|tbody|tr|th|td)$/.test(name ?? "")),
        [],
        html,
      );
      assert.equal(textOf(await render(written)), read(text));
    });
  }

  it("stays text where it is random", async () => {
    const pieces = "[ ] ( ) < > * _ ` ~ # | ! \\ & $ : @ - + = . 1 a https:// www. lt;"
      .split(" ")
      .concat(" ");
    const random = new SeededRandom(11);
    for (let tries = 0; tries < 400; tries++) {
      const text = Array.from({ length: 10 }, () => random.pick(pieces)).join("");
      const html = await render(inMarkdown(text));
      assert.ok(!/<(?!\/?p\b)/.test(html), `${text}: ${html}`);
      assert.equal(read(textOf(html).replaceAll("\u2060", "")), read(text), inMarkdown(text));
    }
  });

  it("cannot end a block of code", async () => {
    const html = await render(codeBlock("a\n```\n[click](command:x)\n````\n", "text"));
    assert.ok(!html.includes("<a "), html);
    assert.match(html, /\[click\]\(command:x\)/);
  });
});
