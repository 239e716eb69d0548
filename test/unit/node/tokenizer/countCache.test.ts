import { appendFile, mkdtemp, readdir, readFile, rm, truncate, utimes, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CountCache } from "../../../../src/core/tokens/keptCount";
import type { Tokenizer } from "../../../../src/core/tokens/tokenizer";
import { countFiles } from "../../../../src/core/tokens/countFiles";
import { defaultWalkOptions } from "../../../../src/core/files/files";
import type { TokenCount } from "../../../../src/core/tokens/tokenCount";
import { openCountCache } from "../../../../src/node/tokenizer/countCache";
import { workspaceFiles } from "../../../../src/node/files/workspaceFiles";

let folder: string;
let tree: string;
let counted: string[];

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "lg-counts-"));
  tree = await mkdtemp(path.join(os.tmpdir(), "lg-tree-"));
  counted = [];
});
afterEach(async () => {
  await rm(folder, { recursive: true });
  await rm(tree, { recursive: true });
});

/** A token per character; remembers what it was asked. */
const tokenizer: Tokenizer = {
  identity: { source: "gguf", model: "test" },
  fingerprint: "characters",
  count: (texts) => {
    counted.push(...texts);
    return Promise.resolve(texts.map((text) => ({ tokens: text.length })));
  },
  countPrompt: (prompt) => Promise.resolve(prompt.length),
};

/** Files of an hour ago: what was written just now is not kept by its time. */
async function put(name: string, text: string, ago = 3600): Promise<string> {
  const file = path.join(tree, name);
  await writeFile(file, text);
  const time = new Date(Date.now() - 1000 * ago);
  await utimes(file, time, time);
  return file;
}

/** A minute later, when a file that was written cannot be written again without a new time of change. */
const open = (fingerprint = "characters", later = 60_000): Promise<CountCache> =>
  openCountCache({ folder, fingerprint, now: () => Date.now() + later });

async function count(cache: CountCache): Promise<TokenCount> {
  counted = [];
  const request = { roots: [tree], options: defaultWalkOptions };
  const parts = { files: workspaceFiles(), tokenizer, clock: Date, cache };
  const result = await countFiles(parts, request, () => undefined, new AbortController().signal);
  await cache.flush();
  return result;
}

const names = ({ files }: TokenCount): object =>
  Object.fromEntries(files.map((f) => [f.file.label, f.tokens]));

async function cacheFile(): Promise<string> {
  const [name] = await readdir(folder);
  if (name === undefined) throw new Error("nothing was kept");
  return path.join(folder, name);
}

describe("counts that are kept", () => {
  it("survive the process: an unchanged tree is not read again, with the same result", async () => {
    const lines = Array.from({ length: 20 }, (_, i) => `line ${i} of a text`).join("\n");
    await put("a.txt", lines);
    await put("b.txt", `${lines}\n`);
    await put("image.bin", "\0\u0001\u0002");
    await put("book.ipynb", JSON.stringify({ cells: [{ cell_type: "code", source: ["x = 1\n", "y"] }] }));
    const first = await count(await open());
    expect(counted).toHaveLength(3);
    expect(first.files.find(({ file }) => file.label === "b.txt")?.mark?.kind).toBe("duplicate");
    expect(first.notes).toHaveLength(1);
    const again = await count(await open());
    expect(counted).toEqual([]);
    expect({ ...again, seconds: 0 }).toEqual({ ...first, seconds: 0 });
  });

  it("are made again where a file has other content of the same size and time", async () => {
    await put("a.txt", "one");
    await count(await open());
    await put("a.txt", "two");
    await count(await open());
    expect(counted).toEqual(["two"]);
  });

  it("are not believed where a digit has changed", async () => {
    await put("a.txt", "some text");
    const whole = await count(await open());
    const file = await cacheFile();
    const before = await readFile(file, "utf8");
    for (const [from, to] of [
      [",9,", ",8,"],
      ["a.txt", "b.txt"],
      ["[", " ["],
    ] as const) {
      await writeFile(file, before.replace(from, to));
      expect(names(await count(await open()))).toEqual(names(whole));
      expect(counted).toEqual(["some text"]);
    }
  });

  it("are found by content where only the time is another", async () => {
    await put("a.txt", "the same text", 3600);
    await count(await open());
    await put("a.txt", "the same text", 1800);
    await put("copy.txt", "the same text", 900);
    expect(names(await count(await open()))).toEqual({ "a.txt": 13, "copy.txt": 13 });
    expect(counted).toEqual([]);
  });

  it("are not trusted by time where the file was just written", async () => {
    await put("a.txt", "one");
    await count(await open("characters", 0));
    expect(await readdir(folder)).toEqual([]);
    await put("a.txt", "two");
    await count(await open("characters", 0));
    expect(counted).toEqual(["two"]);
  });

  it("belong to one tokenizer", async () => {
    await put("a.txt", "text");
    await count(await open());
    await count(await open("another"));
    expect(counted).toEqual(["text"]);
  });

  it("know a prompt by its files, their times and its frame", async () => {
    await put("a.txt", "text");
    const cache = await open();
    const files = (await count(cache)).files.map(({ file }) => file);
    const key = await cache.promptKey(files, "markdown");
    if (key === undefined) throw new Error("no key");
    cache.keepPrompt(key, 42);
    await cache.flush();
    const later = await open();
    expect(later.promptTokens(key)).toBe(42);
    expect(await later.promptKey(files, "markdown")).toBe(key);
    expect(await later.promptKey(files, "xml")).not.toBe(key);
    const touched = files.map((file) => ({ ...file, mtimeMs: file.mtimeMs + 1 }));
    expect(await later.promptKey(touched, "markdown")).not.toBe(key);
    expect(
      await later.promptKey(
        files.map((file) => ({ ...file, unsaved: true })),
        "markdown",
      ),
    ).toBeUndefined();
  });

  it.each([
    ["cut off in the middle", async (file: string) => truncate(file, 150)],
    [
      "with lines that are none",
      async (file: string) => appendFile(file, '["f",1]\nnonsense\n["f","x",-1,0]\n'),
    ],
    ["of a newer version", async (file: string) => writeFile(file, '{"llamaGaugeCounts":4}\n["new"]\n')],
    ["empty", async (file: string) => writeFile(file, "")],
    ["of random bytes", async (file: string) => writeFile(file, Buffer.from([255, 0, 13, 10, 254, 10]))],
  ])("are made again from a file %s", async (_, spoil) => {
    await put("a.txt", "some text");
    await put("b.txt", "another text");
    const whole = await count(await open());
    await spoil(await cacheFile());
    expect(names(await count(await open()))).toEqual(names(whole));
    await put("c.txt", "third");
    await count(await open());
    // now it is whole again
    await count(await open());
    expect(counted).toEqual([]);
    expect(await readFile(await cacheFile(), "utf8")).toMatch(
      /^\{"llamaGaugeCounts":3\}\n([\da-f]{8} \[.*\]\n)+$/,
    );
  });

  it("do without a folder that cannot be written", async () => {
    await put("a.txt", "text");
    await writeFile(path.join(folder, "file"), "");
    const cache = await openCountCache({ folder: path.join(folder, "file"), fingerprint: "x" });
    expect(names(await count(cache))).toEqual({ "a.txt": 4 });
  });

  it("are written by two windows at once without loss", async () => {
    await put("a.txt", "text");
    await count(await open());
    const [one, other] = [await open(), await open()];
    await put("b.txt", "more");
    await count(one);
    await put("c.txt", "even more");
    await count(other);
    await count(await open());
    expect(counted).toEqual([]);
  });
});
