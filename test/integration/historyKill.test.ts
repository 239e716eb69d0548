import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { execa } from "execa";
import { expect, it } from "vitest";
import { HistoryStore } from "../../src/app/historyStore";
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
