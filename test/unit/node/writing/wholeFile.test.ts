import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeWhole } from "../../../../src/node/writing/wholeFile";

let folder: string;
const at = (name: string): string => path.join(folder, name);

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "whole-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe("writing a whole file", () => {
  it("removes what a process that was killed left of it, and nothing else", async () => {
    const old = new Date(Date.now() - 2 * 3_600_000);
    for (const name of ["a.json.123.x1.tmp", "a.json.tmp", "b.json.123.x1.tmp", "a.json.mine.tmp"]) {
      await writeFile(at(name), "half");
      await utimes(at(name), old, old);
    }
    // of a window that writes just now
    await writeFile(at("a.json.456.x2.tmp"), "half");
    await writeWhole(at("a.json"), "whole");
    expect((await readdir(folder)).sort()).toEqual([
      "a.json",
      "a.json.456.x2.tmp",
      "a.json.mine.tmp",
      "a.json.tmp",
      "b.json.123.x1.tmp",
    ]);
    expect(await readFile(at("a.json"), "utf8")).toBe("whole");
  });

  it("leaves the file as it was, and no draft, where it cannot be written", async () => {
    await writeFile(at("a.json"), "before");
    const stop = new AbortController();
    stop.abort();
    await expect(writeWhole(at("a.json"), "after", stop.signal)).rejects.toThrow();
    await expect(writeWhole(at("there/is/none.json"), "after")).rejects.toMatchObject({ code: "ENOENT" });
    expect(await readdir(folder)).toEqual(["a.json"]);
    expect(await readFile(at("a.json"), "utf8")).toBe("before");
  });
});
