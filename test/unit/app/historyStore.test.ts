import { appendFile, mkdtemp, readFile, rm, truncate } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HistoryRecord } from "../../../src/core/history/historyRecord";
import { HistoryStore } from "../../../src/app/historyStore";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "history-"));
});
afterEach(() => rm(folder, { recursive: true }));

const signal = new AbortController().signal;
const record = (id: string, raw = ""): HistoryRecord => ({
  version: 1,
  id,
  kind: "probe",
  at: 1,
  tool: "t",
  raw,
});

describe("the history", () => {
  it("is empty where there is none, and keeps records in order", async () => {
    const store = new HistoryStore(path.join(folder, "not", "there"));
    expect(await store.read(signal)).toEqual({ records: [], newer: 0, broken: 0, olderBytes: 0 });
    await store.append(record("a"));
    await store.append(record("b"));
    expect((await store.read(signal)).records.map((r) => r.id)).toEqual(["a", "b"]);
  });

  it("loses only the line that a kill tore, and goes on behind it", async () => {
    const store = new HistoryStore(folder);
    await store.append(record("a"));
    await store.append(record("b", "x".repeat(500)));
    const { length } = await readFile(store.file);
    await truncate(store.file, length - 100);
    await store.append(record("c"));
    const content = await store.read(signal);
    expect(content.records.map((r) => r.id)).toEqual(["a", "c"]);
    expect(content.broken).toBe(1);
  });

  it("never rewrites what a later version wrote", async () => {
    const store = new HistoryStore(folder);
    const later = '{"version":9,"id":"z","shape":"unknown"}\n';
    await store.append(record("a"));
    await appendFile(store.file, later);
    await store.append(record("b"));
    expect(await store.read(signal)).toMatchObject({ newer: 1, broken: 0 });
    expect(await readFile(store.file, "utf8")).toContain(later);
  });

  it("reads only the end and the baselines of a history of years", async () => {
    const store = new HistoryStore(folder);
    await store.append({ ...record("first"), kind: "baseline", label: "x" });
    const lines = Array.from({ length: 200_000 }, (_, i) => JSON.stringify(record(`r${i}`, "z".repeat(100))));
    await appendFile(store.file, `${lines.join("\n")}\n`);
    const [first, ...recent] = (await store.read(signal)).records.map(({ id }) => id);
    expect(first).toBe("first");
    // whole lines to the last, about 16 MiB of them
    expect(recent.length).toBeGreaterThan(50_000);
    expect(recent.length).toBeLessThan(150_000);
    expect(recent).toEqual(Array.from(recent, (_, i) => `r${200_000 - recent.length + i}`));
    expect((await store.readAll(signal)).records).toHaveLength(200_001);
  });

  it("has every record of two writers at once", async () => {
    const [one, two] = [new HistoryStore(folder), new HistoryStore(folder)];
    const write = async (store: HistoryStore, name: string): Promise<void> => {
      for (let i = 0; i < 50; i++) await store.append(record(`${name}${i}`, "y".repeat(3000)));
    };
    await Promise.all([write(one, "a"), write(two, "b")]);
    const content = await one.read(signal);
    expect(content.broken).toBe(0);
    expect(new Set(content.records.map((r) => r.id)).size).toBe(100);
  });

  it("is made small on request, and loses neither a baseline nor what it was", async () => {
    const store = new HistoryStore(folder);
    await store.append({ ...record("old"), kind: "baseline" });
    const bulk = Array.from(
      { length: 20_000 },
      (_, i) => `${JSON.stringify(record(`r${i}`, "x".repeat(1000)))}\n`,
    );
    await appendFile(store.file, bulk.join(""));
    await appendFile(store.file, '{"version":1,"torn\n{"version":99,"of":"tomorrow"}\n');
    await store.append(record("twice", "first"));
    await store.append(record("twice", "second"));
    const before = await store.read(signal);
    const whole = await readFile(store.file, "utf8");
    const done = await store.compact(7, signal);
    const after = await store.read(signal);
    expect(after.records).toEqual(before.records);
    expect(after).toMatchObject({ newer: 1, broken: 0, olderBytes: 0 });
    expect(done?.bytes).toBeLessThan(17 * 2 ** 20);
    expect(await readFile(done?.wholeFile ?? "", "utf8")).toBe(whole);
    await store.append(record("next"));
    expect((await store.read(signal)).records.at(-1)?.id).toBe("next");
  });
});
