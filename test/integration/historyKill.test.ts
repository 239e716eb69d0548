import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { execa } from "execa";
import { expect, it } from "vitest";
import { HistoryStore } from "../../src/app/historyStore";
import { openCountCache } from "../../src/node/tokenizer/countCache";
import { bundledProgram } from "../support/bundled";

it("stays readable when the process that writes it is killed, again and again", async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), "history-"));
  const writer = await bundledProgram("writeHistory");
  try {
    const store = new HistoryStore(folder);
    let written = 0;
    for (const name of ["a", "b", "c"]) {
      const running = execa(process.execPath, [writer.file, folder, name], { reject: false, buffer: false });
      let last = -1;
      running.stdout.on("data", (data: Buffer) => (last = Number(data.toString().trim().split("\n").at(-1))));
      while (last < 5) await once(running.stdout, "data");
      running.kill("SIGKILL");
      await running;
      written += last + 1;
    }
    await store.append({ version: 1, id: "after", kind: "probe", at: 0, tool: "t" });
    const { records, broken } = await store.read(new AbortController().signal);
    expect(records.length).toBeGreaterThanOrEqual(written + 1);
    expect(broken).toBeLessThanOrEqual(3);
    expect(records.at(-1)?.id).toBe("after");
  } finally {
    await writer.remove();
    await rm(folder, { recursive: true });
  }
});

it("keeps only right counts when the process that keeps them is killed, again and again", async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), "counts-"));
  const writer = await bundledProgram("writeCounts");
  try {
    let kept = 0;
    for (const first of [1, 1001, 2001]) {
      const running = execa(process.execPath, [writer.file, folder, String(first)], {
        reject: false,
        buffer: false,
      });
      let last = first;
      running.stdout.on("data", (data: Buffer) => (last = Number(data.toString().trim().split("\n").at(-1))));
      while (last < first + 5) await once(running.stdout, "data");
      running.kill("SIGKILL");
      await running;
      kept += last - first + 1;
    }
    const cache = await openCountCache({ folder, fingerprint: "f" });
    const counts = Array.from({ length: 3000 }, (_, i) => {
      const known = cache.file({ path: `/${i}`, label: "", bytes: i, mtimeMs: 1, stamp: `${i} 1` });
      return known?.kind === "counted" ? [i, known.tokens] : [];
    }).filter((pair) => pair.length > 0);
    expect(counts.length).toBeGreaterThanOrEqual(kept);
    expect(counts.every(([file, tokens]) => file === tokens)).toBe(true);
  } finally {
    await writer.remove();
    await rm(folder, { recursive: true });
  }
});
