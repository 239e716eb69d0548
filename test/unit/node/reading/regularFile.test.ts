import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HistoryStore } from "../../../../src/app/historyStore";
import { readPlanFile } from "../../../../src/node/ladder/ladderPlanFile";
import { LadderStore } from "../../../../src/node/ladder/ladderStore";
import { logTail } from "../../../../src/node/llamaServer/serverStart";
import { readGgufHeader } from "../../../../src/node/gguf/ggufModelSource";
import { repositoryAround, scopeAround } from "../../../../src/node/files/ignoreFiles";
import { openCountCache } from "../../../../src/node/tokenizer/countCache";
import { readRegular } from "../../../../src/node/reading/regularFile";

let folder: string;
const at = (name: string): string => path.join(folder, name);
const fifo = (name: string): string => {
  execFileSync("mkfifo", [at(name)]);
  return at(name);
};
const { signal } = new AbortController();

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "regular-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe.skipIf(process.platform === "win32")("reading a file that somebody else may have put there", () => {
  it("refuses what has no end, at once", async () => {
    for (const file of [fifo("fifo"), "/dev/zero", "/dev/tty", folder]) {
      await expect(readRegular(file, { most: 100 })).rejects.toThrow();
    }
    await expect(readRegular(at("fifo"), { most: 100 })).rejects.toMatchObject({ code: "NOT_A_FILE" });
  });

  it("reads whole files, beginnings and ends, and no more than is allowed", async () => {
    await writeFile(at("a"), "0123456789");
    const text = async (most: number, part?: "start" | "end"): Promise<string> =>
      String(await readRegular(at("a"), { most, ...(part && { part }) }));
    expect([await text(10), await text(3, "start"), await text(3, "end"), await text(20, "end")]).toEqual([
      "0123456789",
      "012",
      "789",
      "0123456789",
    ]);
    await expect(text(9)).rejects.toMatchObject({ code: "TOO_LARGE" });
    await truncate(at("a"), 0);
    expect(await text(9)).toBe("");
    // a sparse terabyte
    await truncate(at("a"), 2 ** 40);
    await expect(text(9)).rejects.toMatchObject({ code: "TOO_LARGE" });
  });

  it("reads pipes of the command line to their end, within the limit, and stops when it is told to", async () => {
    const named = { most: 100, pipes: true } as const;
    const pipe = fifo("pipe");
    await expect(readRegular(pipe, named)).rejects.toMatchObject({ code: "NO_WRITER" });
    await expect(readRegular("/dev/zero", named)).rejects.toMatchObject({ code: "TOO_LARGE" });
    // opened for both, so that it does not wait for whoever reads
    const writer = spawn("sh", ["-c", `exec 3<>"${pipe}"; printf hello >&3; printf ready; read line`]);
    try {
      await new Promise((resolve) => writer.stdout.once("data", resolve));
      const stop = new AbortController();
      const reading = readRegular(pipe, { ...named, signal: stop.signal });
      stop.abort(new Error("stopped"));
      await expect(reading).rejects.toThrow("stopped");
    } finally {
      writer.kill("SIGKILL");
    }
  });

  it("is how plans, logs, models, histories, records, counts and git's files are read", async () => {
    const named = fifo("named");
    await expect(readPlanFile(named, signal)).rejects.toMatchObject({ name: "UserError" });
    await expect(readGgufHeader(named, signal)).rejects.toMatchObject({ name: "UserError" });
    expect(await logTail(named)).toBe("");

    fifo("history.jsonl");
    const history = new HistoryStore(folder);
    await expect(history.read(signal)).rejects.toMatchObject({ name: "UserError" });
    const record = { version: 1, id: "1", kind: "probe", at: 1, tool: "test" } as const;
    await expect(history.append(record)).rejects.toMatchObject({ name: "UserError" });

    fifo("ladder.jsonl");
    await expect(new LadderStore(folder).read(signal)).rejects.toMatchObject({ name: "UserError" });

    fifo(".git");
    expect(await repositoryAround(at("x"))).toBe(folder);
    await scopeAround(at("x"), folder, { nameOf: (file) => file });

    const options = { folder, fingerprint: "f" };
    const cache = await openCountCache(options);
    cache.keepPrompt("key", 1);
    await cache.flush();
  });
});
