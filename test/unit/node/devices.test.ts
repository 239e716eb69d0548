import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { measureMemory } from "../../../src/node/devices";
import { amdDevices } from "../../../src/node/devicesLinux";
import { unifiedMemory } from "../../../src/node/devicesMac";
import { nvidiaDevices, parseNvidiaLine } from "../../../src/node/devicesNvidia";
import { watchMemory } from "../../../src/node/liveMemory";
import type { LiveMemory } from "../../../src/core/memory/liveMemory";

const never = new AbortController().signal;
const MiB = 2 ** 20;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-devices-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A program that stands in for a driver's tool. */
async function tool(name: string, script: string): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return file;
}

async function card(root: string, name: string, files: Readonly<Record<string, string>>): Promise<void> {
  const device = path.join(root, name, "device");
  await mkdir(device, { recursive: true });
  for (const [file, text] of Object.entries(files)) await writeFile(path.join(device, file), text);
}

describe.skipIf(process.platform === "win32")("NVIDIA's driver", () => {
  it("names devices and what is free on them, in bytes", async () => {
    const program = await tool(
      "two-cards",
      `printf '0, 24576, 23800, NVIDIA GeForce RTX 3090\\n1, 12288, 11013, NVIDIA GeForce RTX 3060\\n'`,
    );
    expect(await nvidiaDevices(never, { program })).toEqual([
      {
        name: "CUDA0",
        description: "NVIDIA GeForce RTX 3090",
        totalBytes: 24_576 * MiB,
        freeBytes: 23_800 * MiB,
        from: "driver",
      },
      {
        name: "CUDA1",
        description: "NVIDIA GeForce RTX 3060",
        totalBytes: 12_288 * MiB,
        freeBytes: 11_013 * MiB,
        from: "driver",
      },
    ]);
  });

  it("has no memory of its own to speak of where it is the host's", () => {
    expect(parseNvidiaLine("0, [N/A], [N/A], NVIDIA GB10")).toBeUndefined();
  });

  it("is asked for what is machine-readable in every language", async () => {
    const program = await tool("arguments", `echo "$@" > "${folder}/seen"; printf '0, 100, 50, Karte\\n'`);
    await nvidiaDevices(never, { program });
    expect(await readFile(path.join(folder, "seen"), "utf8")).toBe(
      "--query-gpu=index,memory.total,memory.free,name --format=csv,noheader,nounits\n",
    );
  });

  it("is silent, and the host is still measured, where its tool fails, hangs or talks to people", async () => {
    const cases = {
      "not there": { program: path.join(folder, "missing") },
      fails: { program: await tool("fails", "echo 'NVIDIA-SMI has failed'; exit 9") },
      hangs: { program: await tool("hangs", "exec sleep 60"), timeout: 200 },
      localised: { program: await tool("localised", "echo 'Kein Gerät gefunden'") },
    };
    for (const [name, nvidia] of Object.entries(cases)) {
      const measured = await measureMemory({ nvidia, drm: path.join(folder, "no-cards") }, never);
      expect(measured.devices, name).toEqual([]);
      expect(measured.host.totalBytes, name).toBeGreaterThan(0);
      expect(measured.silent, name).toEqual(name === "not there" ? [] : ["nvidia-smi"]);
    }
  });
});

describe("amdgpu's counters", () => {
  it("are read from sysfs; cards without them and connectors are none", async () => {
    const root = path.join(folder, "drm");
    await card(root, "card1", { mem_info_vram_total: "17163091968\n", mem_info_vram_used: "1163091968\n" });
    await card(root, "card0", { vendor: "0x8086\n" });
    await card(root, "card1-DP-1", { mem_info_vram_total: "1\n", mem_info_vram_used: "0\n" });
    expect(await amdDevices(root)).toEqual([
      {
        name: "ROCm0",
        description: "amdgpu card1",
        totalBytes: 17_163_091_968,
        freeBytes: 16_000_000_000,
        from: "sysfs",
      },
    ]);
  });

  it("are gone with an unplugged card", async () => {
    const root = path.join(folder, "unplugged");
    await card(root, "card0", { mem_info_vram_total: "100\n", mem_info_vram_used: "40\n" });
    expect(await amdDevices(root)).toHaveLength(1);
    await rm(path.join(root, "card0"), { recursive: true });
    expect(await amdDevices(root)).toEqual([]);
  });
});

describe("Metal's part of unified memory", () => {
  const GiB = 2 ** 30;
  it.each([
    ["the user's own limit", "24576", 32 * GiB, 24 * GiB],
    ["two thirds of a small machine", "0", 24 * GiB, 16 * GiB],
    ["three quarters of a large one", "0", 64 * GiB, 48 * GiB],
  ])("is %s", async (_, limit, total, usable) => {
    const program = await tool(`sysctl-${limit}-${total}`, `echo ${limit}`);
    expect(await unifiedMemory(total, never, program)).toMatchObject([
      { name: "MTL0", totalBytes: usable, freeBytes: usable },
    ]);
  });

  it("is the usual part where sysctl says nothing", async () => {
    const [device] = await unifiedMemory(24 * GiB, never, path.join(folder, "missing"));
    expect(device?.totalBytes).toBe(16 * GiB);
  });
});

describe.skipIf(process.platform === "win32")("the watch over memory", () => {
  it("tells of the host and of every card its one nvidia-smi names, until it is stopped", async () => {
    const nvidia = await tool(
      "watching",
      `while true; do printf '0, 24576, 20000, NVIDIA GeForce RTX 3090\\n'; sleep 1; done`,
    );
    const seen: LiveMemory[] = [];
    let wake: () => void = () => undefined;
    const watch = watchMemory({ intervalSeconds: 0.05, nvidia }, (memory) => {
      seen.push(memory);
      if (memory.devices.length > 0) wake();
    });
    await new Promise<void>((resolve) => (wake = resolve));
    watch.stop();
    expect(seen.at(-1)?.devices).toEqual([
      expect.objectContaining({ name: "CUDA0", totalBytes: 24_576 * MiB, freeBytes: 20_000 * MiB }),
    ]);
    expect(seen.at(-1)?.host.freeBytes).toBeGreaterThan(0);
  });
});
