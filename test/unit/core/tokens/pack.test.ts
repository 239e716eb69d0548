import { describe, expect, it } from "vitest";
import type { FileSource, FileRef } from "../../../../src/core/files/files";
import {
  defaultPackTemplate,
  packFile,
  packText,
  rawText,
  type PackTemplate,
} from "../../../../src/core/tokens/pack";
import { orderForRecall } from "../../../../src/core/tokens/packOrder";

const never = new AbortController().signal;
const ref = (label: string, bytes = 10): FileRef => ({ path: `/w/${label}`, label, bytes, mtimeMs: 0 });

function source(
  texts: Readonly<Record<string, string>>,
  onRead: (label: string) => void = () => undefined,
): FileSource {
  return {
    async *list() {
      // the pack is given its files
    },
    read({ path, label }) {
      onRead(label);
      const text = texts[label];
      return Promise.resolve(
        text === undefined
          ? { kind: "skipped", skipped: { path, label, reason: "vanished", folder: false } }
          : { kind: "text", text },
      );
    },
  };
}

async function packed(
  texts: Readonly<Record<string, string>>,
  template: Partial<PackTemplate> = {},
): Promise<string> {
  const pieces: string[] = [];
  const files = Object.keys(texts).map((label) => ref(label));
  for await (const piece of packText(files, { ...defaultPackTemplate, ...template }, source(texts), never)) {
    pieces.push(piece);
  }
  return pieces.join("");
}

describe("the packed prompt", () => {
  it("is a heading and a fence per file in Markdown", async () => {
    expect(await packed({ "src/a.ts": "let a;\n", README: "no end of line" })).toBe(
      "## src/a.ts\n\n```ts\nlet a;\n```\n\n## README\n\n```\nno end of line\n```",
    );
  });

  it("is an element per file in XML", async () => {
    expect(await packed({ 'a"&<b>.txt': "1 < 2\n" }, { format: "xml" })).toBe(
      '<file path="a&quot;&amp;&lt;b&gt;.txt">\n1 < 2\n</file>',
    );
  });

  it("puts the user's words around the files, and nothing around no files", async () => {
    const words = { before: "  Read this:\n", after: "\nWhat is wrong?\n " };
    expect(await packed({ a: "x" }, words)).toBe("Read this:\n\n## a\n\n```\nx\n```\n\nWhat is wrong?");
    expect(await packed({}, words)).toBe("");
  });

  it.each(["markdown", "xml"] as const)(
    "keeps every text whole and neither starts nor ends with space: %s",
    async (format) => {
      const nasty = [
        "",
        "\n\n",
        " leading",
        "```",
        "a\n````md\nb\n````\n",
        "</file>\n",
        "</file></file2>",
        "x\r\n",
        "\u2028",
      ];
      for (const text of nasty) {
        const prompt = await packed({ "f.md": text, g: text }, { format });
        expect(prompt).toBe(prompt.trim());
        const [header, body, footer] = packFile("f.md", text, format);
        expect(body).toBe(text);
        expect(prompt.startsWith(header + text + footer)).toBe(true);
      }
    },
  );

  it("fences a text with more backticks than it holds anywhere", () => {
    const [header, , footer] = packFile("f.md", "a ````` b", "markdown");
    expect(header).toBe("## f.md\n\n``````md\n");
    expect(footer).toBe("\n``````");
  });

  it("closes an element by a name the text does not close", () => {
    const [header, , footer] = packFile("f", "</file></file2>", "xml");
    expect(header).toBe('<file3 path="f">\n');
    expect(footer).toBe("\n</file3>");
  });

  it("lets no name break its line or turn the writing direction", () => {
    expect(packFile("a\n## b\u202Ec", "", "markdown")[0]).toBe("## a\\n## b\\u202ec\n\n```\n");
    expect(packFile('a\n"b', "", "xml")[0]).toBe('<file path="a&#10;&quot;b">\n');
    expect(packFile("日本/🦙 שלום.md", "", "markdown")[0]).toBe("## 日本/🦙 שלום.md\n\n```md\n");
  });

  it("leaves out what cannot be read any more", async () => {
    const pieces: string[] = [];
    const files = [ref("gone"), ref("a"), ref("gone too")];
    for await (const piece of packText(files, defaultPackTemplate, source({ a: "x" }), never))
      pieces.push(piece);
    expect(pieces.join("")).toBe("## a\n\n```\nx\n```");
  });

  it("reads files as they come up, a few ahead, and stops when cancelled", async () => {
    const labels = Array.from({ length: 100 }, (_, at) => `f${at}`);
    const read: string[] = [];
    const texts = Object.fromEntries(labels.map((label) => [label, "x"]));
    const controller = new AbortController();
    const pieces = packText(
      labels.map((label) => ref(label)),
      defaultPackTemplate,
      source(texts, (label) => read.push(label)),
      controller.signal,
    );
    await pieces.next();
    expect(read.length).toBeLessThan(20);
    controller.abort(new Error("cancelled"));
    const rest = (async () => {
      for await (const _ of pieces);
    })();
    await expect(rest).rejects.toThrow("cancelled");
    expect(read.length).toBeLessThan(30);
  });

  it("joins raw texts as they are", async () => {
    const pieces: string[] = [];
    for await (const piece of rawText([ref("a"), ref("b")], source({ a: " x", b: "y\n" }), never))
      pieces.push(piece);
    expect(pieces.join("")).toBe(" xy\n");
  });
});

describe("the order that serves recall", () => {
  const labels = ["a.test.ts", "b.ts", "data.csv", "package-lock.json", "README.md", "z.ts"];
  const order = (to: PackTemplate["order"]): string[] =>
    orderForRecall(
      labels.map((label) => ref(label)),
      to,
    ).map(({ label }) => label);

  it("puts what matters at one end, and what nobody wrote at the other", () => {
    expect(order("walk")).toEqual(labels);
    const first = ["README.md", "b.ts", "z.ts", "a.test.ts", "data.csv", "package-lock.json"];
    expect(order("importantFirst")).toEqual(first);
    expect(order("importantLast")).toEqual([
      "package-lock.json",
      "data.csv",
      "a.test.ts",
      "b.ts",
      "z.ts",
      "README.md",
    ]);
  });
});
