import { appendFile, mkdir, mkdtemp, rename, rm, truncate, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FollowedLog } from "../../../../src/node/reading/followedLog";

let folder: string;
let file: string;
let lines: string[];
let signal: AbortSignal;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-log-"));
  file = path.join(folder, "server.log");
  lines = [];
  signal = AbortSignal.timeout(60_000);
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const follow = (): FollowedLog => new FollowedLog(file, (line) => lines.push(line.text(line.from, line.to)));

describe("a log that is followed", () => {
  it("gives each line once, when it has ended", async () => {
    await writeFile(file, "one\ntw");
    const log = follow();
    await log.read(signal);
    expect(lines).toEqual(["one"]);
    await appendFile(file, "o\r\nthree 漢");
    expect((await log.read(signal)).bytes).toBe(12);
    expect((await log.read(signal)).bytes).toBe(0);
    expect(lines).toEqual(["one", "two"]);
    log.flush();
    expect(lines).toEqual(["one", "two", "three 漢"]);
  });

  it("begins again where the file was replaced or cut off", async () => {
    await writeFile(file, "one\nhalf a li");
    const log = follow();
    await log.read(signal);
    await rename(file, `${file}.1`);
    await writeFile(file, "two, and longer than before\n");
    await log.read(signal);
    await truncate(file);
    await appendFile(file, "three\n");
    await log.read(signal);
    expect(lines).toEqual(["one", "two, and longer than before", "three"]);
  });

  it("goes on after the file was away for a while", async () => {
    await writeFile(file, "one\n");
    const log = follow();
    await log.read(signal);
    await rm(file);
    await expect(log.read(signal)).rejects.toMatchObject({ reason: "notFound" });
    await writeFile(file, "two\n");
    await log.read(signal);
    expect(lines).toEqual(["one", "two"]);
  });

  it("refuses what is no text, and stops when nobody wants it", async () => {
    await writeFile(file, Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]));
    await expect(follow().read(signal)).rejects.toMatchObject({ reason: "invalidInput" });
    file = path.join(folder, "folder");
    await mkdir(file);
    await expect(follow().read(signal)).rejects.toMatchObject({ reason: "invalidInput" });
    file = path.join(folder, "other.log");
    await writeFile(file, "one\n");
    await expect(follow().read(AbortSignal.abort())).rejects.toThrow(/abort/i);
  });

  it("reads UTF-16, and lines of any length in bounded memory", async () => {
    await writeFile(file, Buffer.from("\ufeffone\r\ntwo 漢\r\n", "utf16le"));
    await follow().read(signal);
    expect(lines).toEqual(["one", "two 漢"]);
    lines = [];
    await writeFile(file, `${"x".repeat(9 * 2 ** 20)}\nlast\n`);
    await follow().read(signal);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toBe("last");
  });
});
