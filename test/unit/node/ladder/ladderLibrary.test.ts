import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { earlierOf, ladderId, LadderLibrary } from "../../../../src/node/ladder/ladderLibrary";
import { watchStepMemory } from "../../../../src/node/ladder/ladderMemory";
import { LadderStore } from "../../../../src/node/ladder/ladderStore";
import { storedLadder } from "../../../support/sampleLadders";

const signal = new AbortController().signal;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "ladders-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the ladders of the editor", () => {
  it("are listed newest first; what cannot be read, or is none of ours, is passed over", async () => {
    const library = new LadderLibrary(path.join(folder, "kept"));
    expect(await library.list(signal)).toEqual([]);
    const { header, steps } = storedLadder("window");
    const ids = [1, 3, 2].map((hour) => ladderId("abc123", Date.UTC(2026, 0, 1, hour)));
    for (const id of ids) {
      const store = new LadderStore(library.folderOf(id));
      await store.append(header);
      for (const step of steps.slice(0, 2)) await store.append(step);
    }
    const broken = ladderId("abc123", Date.UTC(2026, 0, 2));
    await mkdir(library.folderOf(broken), { recursive: true });
    await writeFile(path.join(library.folderOf(broken), "ladder.jsonl"), "{\n{\n");
    await mkdir(path.join(folder, "kept", "notes"));
    const listed = await library.list(signal);
    expect(listed.map(({ id }) => id)).toEqual([ids[1], ids[2], ids[0]]);
    expect(listed[0]?.record.steps).toHaveLength(2);
    await expect(library.get("../../etc", signal)).rejects.toThrow(/no longer stored/);
    const [newest] = listed;
    if (newest === undefined) throw new Error("nothing listed");
    expect(earlierOf(newest, listed)).toHaveLength(2);
  });
});

describe("the memory watch", () => {
  const GiB = 2 ** 30;
  const host = { totalBytes: 16 * GiB, availableBytes: 8 * GiB };

  it("keeps the least free memory of every device and of the host", async () => {
    // two cards: one fills while the rung runs, the other does not; the last look is the fullest
    const looks = [5, 1].map((free) => ({
      devices: [
        {
          name: "CUDA0",
          description: "",
          totalBytes: 24 * GiB,
          freeBytes: free * GiB,
          from: "driver" as const,
        },
        { name: "CUDA1", description: "", totalBytes: 8 * GiB, freeBytes: 6 * GiB, from: "driver" as const },
      ],
      host: { ...host, availableBytes: (3 + free) * GiB },
      silent: [],
    }));
    let looked = 0;
    let first = (): void => undefined;
    const seen = new Promise<void>((resolve) => (first = resolve));
    const watch = watchStepMemory({ pid: process.pid, local: true }, signal, () => {
      const look = looks[Math.min(looked++, 1)];
      first();
      return look === undefined ? Promise.reject(new Error("no look")) : Promise.resolve(look);
    });
    await seen;
    const { devices, hostLeastFreeBytes, serverPeakBytes } = await watch.stop();
    expect(devices).toEqual([
      { name: "CUDA0", totalBytes: 24 * GiB, leastFreeBytes: GiB },
      { name: "CUDA1", totalBytes: 8 * GiB, leastFreeBytes: 6 * GiB },
    ]);
    expect(hostLeastFreeBytes).toBe(4 * GiB);
    if (process.platform === "linux") expect(serverPeakBytes).toBeGreaterThan(2 ** 20);
  });

  it("never fails a run, and sees nothing of another machine", async () => {
    const blind = watchStepMemory({ pid: undefined, local: true }, signal, () =>
      Promise.reject(new Error("gone")),
    );
    expect(await blind.stop()).toEqual({ devices: [] });
    expect(await watchStepMemory({ pid: 1, local: false }, signal).stop()).toEqual({ devices: [] });
  });
});
