import { describe, expect, it } from "vitest";
import type { Tokenizer } from "../../../../src/core/tokens/tokenizer";
import type { FileText, ListedFile, FileSource } from "../../../../src/core/files/files";
import { countFiles } from "../../../../src/core/tokens/countFiles";
import type { CountProgress } from "../../../../src/core/tokens/countTally";
import { defaultWalkOptions, type FileRef } from "../../../../src/core/files/files";

const file = (label: string, bytes: number): FileRef => ({ path: `/w/${label}`, label, bytes, mtimeMs: 0 });

interface Held {
  now: number;
  most: number;
}

/** Files whose text is `x` as often as they have bytes; remembers how many bytes of text are out at once. */
function source(
  listed: readonly ListedFile[],
  held: Held,
  vanished: ReadonlySet<string> = new Set(),
): FileSource {
  return {
    async *list(_roots, _options, signal) {
      for (const item of listed) {
        await Promise.resolve();
        signal.throwIfAborted();
        yield item;
      }
    },
    async read({ path, label, bytes }): Promise<FileText> {
      await Promise.resolve();
      if (vanished.has(label)) {
        return { kind: "skipped", skipped: { path, label, reason: "vanished", folder: false } };
      }
      held.now += bytes;
      held.most = Math.max(held.most, held.now);
      return { kind: "text", text: "x".repeat(bytes) };
    },
  };
}

function tokenizer(held: Held, count: (text: string) => number = (text) => text.length): Tokenizer {
  return {
    identity: { source: "gguf", model: "test" },
    async count(texts, signal) {
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      for (const text of texts) held.now -= text.length;
      return texts.map((text) => ({ tokens: count(text) }));
    },
    countPrompt: (prompt) => Promise.resolve(prompt.length),
  };
}

const clock = { now: () => 0 };
const request = { roots: ["/w"], options: defaultWalkOptions };
const listing = (sizes: readonly number[]): ListedFile[] =>
  sizes.map((bytes, at) => ({ kind: "file", file: file(`f${String(at).padStart(4, "0")}`, bytes) }));
const nothing = (): Held => ({ now: 0, most: 0 });

describe("countFiles", () => {
  it("accounts for every listed file, in the order of the walk", async () => {
    const held = nothing();
    const skipped = { path: "/w/b", label: "b", reason: "ignored", folder: true } as const;
    const listed: ListedFile[] = [
      { kind: "file", file: file("a", 3) },
      { kind: "skipped", skipped },
      { kind: "file", file: file("c", 0) },
      { kind: "file", file: file("d", 9) },
      { kind: "file", file: file("e", 5) },
    ];
    const parts = { files: source(listed, held, new Set(["d"])), tokenizer: tokenizer(held), clock };
    const limits = { batchFiles: 1 };
    const result = await countFiles(
      parts,
      { ...request, limits },
      () => undefined,
      new AbortController().signal,
    );
    expect(result.tokens).toBe(8);
    expect(result.files.map(({ file: { label }, tokens }) => [label, tokens])).toEqual([
      ["a", 3],
      ["c", 0],
      ["e", 5],
    ]);
    expect(result.skipped.map(({ label, reason }) => [label, reason])).toEqual([
      ["b", "ignored"],
      ["d", "vanished"],
    ]);
  });

  it("never holds more text than it says", async () => {
    const held = nothing();
    const sizes = Array.from({ length: 400 }, (_, at) => (at % 37 === 0 ? 900 : 40));
    const limits = { batchBytes: 1000, batchFiles: 64, batches: 3 };
    const parts = { files: source(listing(sizes), held), tokenizer: tokenizer(held), clock };
    const result = await countFiles(
      parts,
      { ...request, limits },
      () => undefined,
      new AbortController().signal,
    );
    expect(result.files).toHaveLength(400);
    expect(held.most).toBeLessThanOrEqual(3 * 1000);
    expect(held.most).toBeGreaterThan(1000);
  });

  it("reports progress that only grows and ends with everything", async () => {
    const held = nothing();
    const seen: CountProgress[] = [];
    const parts = {
      files: source(listing(Array<number>(300).fill(2)), held),
      tokenizer: tokenizer(held),
      clock,
    };
    await countFiles(parts, request, (progress) => seen.push(progress), new AbortController().signal);
    expect(seen.length).toBeGreaterThan(3);
    expect(seen.at(-1)).toEqual({ filesFound: 300, filesDone: 300, tokens: 600 });
    for (const [at, progress] of seen.entries()) {
      expect(progress.filesDone).toBeGreaterThanOrEqual(seen[at - 1]?.filesDone ?? 0);
      expect(progress.filesDone).toBeLessThanOrEqual(progress.filesFound);
    }
  });

  it.each(["listing", "reading", "counting"] as const)("stops when cancelled while %s", async (stage) => {
    const controller = new AbortController();
    const held = nothing();
    const inner = source(listing(Array<number>(500).fill(10)), held);
    const counter = tokenizer(held);
    let reads = 0;
    const cancelAt = (now: string): void => {
      if (now === stage) controller.abort(new Error("cancelled"));
    };
    const parts = {
      clock,
      files: {
        async *list(...args: Parameters<FileSource["list"]>) {
          let listed = 0;
          for await (const item of inner.list(...args)) {
            if (++listed === 200) cancelAt("listing");
            yield item;
          }
        },
        read: (...args: Parameters<FileSource["read"]>) => {
          if (++reads === 100) cancelAt("reading");
          return inner.read(...args);
        },
      },
      tokenizer: {
        ...counter,
        count: (...args: Parameters<Tokenizer["count"]>) => {
          cancelAt("counting");
          return counter.count(...args);
        },
      },
    };
    await expect(countFiles(parts, request, () => undefined, controller.signal)).rejects.toThrow("cancelled");
    expect(reads).toBeLessThan(500);
  });

  it("fails with the tokenizer's error and stops listing", async () => {
    const held = nothing();
    const failing: Tokenizer = {
      ...tokenizer(held),
      count: () => Promise.reject(new Error("server gone")),
    };
    const parts = { files: source(listing(Array<number>(5000).fill(1)), held), tokenizer: failing, clock };
    await expect(countFiles(parts, request, () => undefined, new AbortController().signal)).rejects.toThrow(
      "server gone",
    );
    expect(held.now).toBeLessThan(1000);
  });

  it("notices a tokenizer that answers for fewer texts than it was given", async () => {
    const held = nothing();
    const short: Tokenizer = { ...tokenizer(held), count: () => Promise.resolve([]) };
    const parts = { files: source(listing([1]), held), tokenizer: short, clock };
    await expect(countFiles(parts, request, () => undefined, new AbortController().signal)).rejects.toThrow(
      "counted 0 of 1",
    );
  });
});

describe("marks", () => {
  it("come with the count: by .gitattributes, by name, by text, by likeness", async () => {
    const code = Array.from({ length: 40 }, (_, at) => `const value${at} = read(${at * 7919});`).join("\n");
    const texts: Readonly<Record<string, string>> = {
      ".gitattributes":
        "schema.ts linguist-generated\nown.go -linguist-generated\nvendor/mine.c linguist-vendored=false\nundo.go -linguist-generated\nundo.go !linguist-generated\n",
      "a.ts": code,
      "b.ts": `${code}\n`,
      "gen.go": "// Code generated by stringer. DO NOT EDIT.\n",
      "own.go": "// Code generated by stringer. DO NOT EDIT.\nown\n",
      "package-lock.json": "{}",
      "schema.ts": "export {};\n",
      "undo.go": "// Code generated by stringer. DO NOT EDIT.\nundo\n",
      "vendor/mine.c": "int mine;\n",
    };
    const files = Object.entries(texts).map(([label, text]) => file(label, text.length));
    const held = nothing();
    const parts = {
      clock,
      tokenizer: tokenizer(held),
      files: {
        ...source(
          files.map((ref) => ({ kind: "file", file: ref })),
          held,
        ),
        read: ({ label }: FileRef): Promise<FileText> =>
          Promise.resolve({ kind: "text", text: texts[label] ?? "" }),
      },
    };
    const result = await countFiles(parts, request, () => undefined, new AbortController().signal);
    expect(result.files.map(({ file: { label }, mark }) => [label, mark?.kind])).toEqual([
      [".gitattributes", undefined],
      ["a.ts", undefined],
      ["b.ts", "duplicate"],
      ["gen.go", "generated"],
      ["own.go", undefined],
      ["package-lock.json", "lock"],
      ["schema.ts", "generated"],
      ["undo.go", "generated"],
      ["vendor/mine.c", undefined],
    ]);
  });
});
