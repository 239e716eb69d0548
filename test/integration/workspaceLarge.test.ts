import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Tokenizer } from "../../src/core/tokens/tokenizer";
import type { FileSource } from "../../src/core/files/files";
import { countFiles } from "../../src/core/tokens/countFiles";
import { assumedTokenizer } from "../../src/core/tokens/estimateTokens";
import { defaultWalkOptions } from "../../src/core/files/files";
import { workspaceFiles } from "../../src/node/files/workspaceFiles";

/** Large trees: everything is accounted for, memory stays bounded, cancel is honoured at once. */

const manyFiles = 50_000;
let root: string;

beforeAll(() => {
  root = realpathSync(mkdtempSync(path.join(os.tmpdir(), "gauge-large-")));
  // Hard links: to the walk a file each, to the disk little more than a name.
  for (let file = 0; file < 50; file++) writeFileSync(path.join(root, `v${file}`), `let v${file} = 1;\n`);
  for (let folder = 0; folder < 100; folder++) {
    const at = path.join(root, "many", `d${folder % 10}`, `e${folder}`);
    mkdirSync(at, { recursive: true });
    for (let file = 0; file < manyFiles / 100; file++) {
      linkSync(path.join(root, `v${file % 50}`), path.join(at, `f${file}.ts`));
    }
  }
  writeFileSync(path.join(root, "many", ".gitignore"), "*.log\nnode_modules/\n/dist\n");
});

afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

const request = (folder: string) => ({ roots: [path.join(root, folder)], options: defaultWalkOptions });

describe("50 000 files", () => {
  it("are all listed and counted", async () => {
    const files = workspaceFiles();
    const parts = { files, tokenizer: assumedTokenizer(files.pause), clock: Date };
    const result = await countFiles(parts, request("many"), () => undefined, new AbortController().signal);
    expect(result.files).toHaveLength(manyFiles + 1);
    expect(result.skipped).toEqual([]);
    expect(new Set(result.files.map(({ file }) => file.label)).size).toBe(manyFiles + 1);
  });

  it.each([1, 4_000, 30_000])("stop at once when cancelled after %i", async (after) => {
    const controller = new AbortController();
    let begunAfterwards = 0;
    const begin = (): void => {
      if (controller.signal.aborted) begunAfterwards++;
    };
    const source = workspaceFiles();
    const files: FileSource = {
      ...source,
      async *list(...args) {
        for await (const item of source.list(...args)) {
          begin();
          yield item;
        }
      },
      read: (file, signal) => {
        begin();
        return source.read(file, signal);
      },
    };
    const parts = { files, tokenizer: assumedTokenizer(files.pause), clock: Date };
    const counting = countFiles(
      parts,
      request("many"),
      ({ filesDone }) => {
        if (filesDone >= after) controller.abort(new Error("cancelled"));
      },
      controller.signal,
    );
    await expect(counting).rejects.toThrow("cancelled");
    expect(controller.signal.aborted).toBe(true);
    // what may be on its way: three batches of 64 files
    expect(begunAfterwards).toBeLessThanOrEqual(3 * 64);
  });
});

describe("memory", () => {
  it("stays bounded however large the tree: 400 MB of text", async () => {
    const at = path.join(root, "large");
    mkdirSync(at);
    const line = 'export const someValue = readTheConfiguration("a.b.c", 12345);\n';
    const text = line.repeat(Math.ceil(1_000_000 / line.length));
    writeFileSync(path.join(at, "f0.ts"), text);
    for (let file = 1; file < 400; file++) linkSync(path.join(at, "f0.ts"), path.join(at, `f${file}.ts`));

    const held = { characters: 0, most: 0 };
    const before = process.memoryUsage().rss;
    let peak = before;
    const result = await countFiles(
      { files: watched(workspaceFiles(), held), tokenizer: lengths(held), clock: Date },
      request("large"),
      () => (peak = Math.max(peak, process.memoryUsage().rss)),
      new AbortController().signal,
    );
    expect(result.files).toHaveLength(400);
    expect(held.most).toBeLessThanOrEqual(3 * 2 * 1024 * 1024);
    expect(peak - before).toBeLessThan(200_000_000);
  });
});

interface Held {
  characters: number;
  most: number;
}

function watched(files: FileSource, held: Held): FileSource {
  return {
    ...files,
    async read(file, signal) {
      const content = await files.read(file, signal);
      if (content.kind === "text") held.characters += content.text.length;
      held.most = Math.max(held.most, held.characters);
      return content;
    },
  };
}

function lengths(held: Held): Tokenizer {
  return {
    identity: { source: "gguf", model: "lengths" },
    async count(texts) {
      await new Promise((resolve) => setImmediate(resolve));
      for (const text of texts) held.characters -= text.length;
      return texts.map((text) => ({ tokens: text.length }));
    },
    countPrompt: (prompt) => Promise.resolve(prompt.length),
  };
}
