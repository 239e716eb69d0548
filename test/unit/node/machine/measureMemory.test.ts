import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { measureMemory } from "../../../../src/node/machine/measureMemory";
import { linuxDevices } from "../../../../src/node/machine/linuxDevices";
import { unifiedMemory } from "../../../../src/node/machine/macDevices";
import { nvidiaDevices, parseNvidiaLine } from "../../../../src/node/machine/nvidiaDevices";
import { DrmWatch } from "../../../../src/node/machine/drmClients";
import { lookAtMemory, watchMemory } from "../../../../src/node/machine/watchMemory";
import { parseProcessMemory } from "../../../../src/node/machine/processMemoryWindows";
import type { LiveMemory } from "../../../../src/core/memory/devices/liveMemory";

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
      const measured = await measureMemory({ nvidia, roots: { drm: path.join(folder, "no-cards") } }, never);
      expect(measured.devices, name).toEqual([]);
      expect(measured.host.totalBytes, name).toBeGreaterThan(0);
      expect(measured.silent, name).toEqual(name === "not there" ? [] : ["nvidia-smi"]);
    }
  });
});

describe("the kernel's graphics cards", () => {
  it("tell what amdgpu counts; cards without memory of their own and connectors are none", async () => {
    const drm = path.join(folder, "drm");
    await card(drm, "card1", { mem_info_vram_total: "17163091968\n", mem_info_vram_used: "1163091968\n" });
    await card(drm, "card0", { vendor: "0x8086\n" });
    await card(drm, "card1-DP-1", { mem_info_vram_total: "1\n", mem_info_vram_used: "0\n" });
    expect(await linuxDevices({ drm })).toMatchObject([
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
    const drm = path.join(folder, "unplugged");
    await card(drm, "card0", { mem_info_vram_total: "100\n", mem_info_vram_used: "40\n" });
    expect(await linuxDevices({ drm })).toHaveLength(1);
    await rm(path.join(drm, "card0"), { recursive: true });
    expect(await linuxDevices({ drm })).toEqual([]);
  });

  it("of Intel have what processes leave: every client once, wherever its file is open", async () => {
    const [drm, proc] = [path.join(folder, "intel-drm"), path.join(folder, "intel-proc")];
    await cardAt(drm, "card0", "0000:03:00.0", { "tile0/physical_vram_size_bytes": "12884901888\n" });
    await cardAt(drm, "card1", "0000:04:00.0", { lmem_total_bytes: "6442450944\n" });
    const xe = drmFile("xe", "0000:03:00.0", "3", { "resident-vram0": "2 GiB", "resident-gtt": "64 MiB" });
    const other = drmFile("xe", "0000:03:00.0", "9", { "resident-vram0": "512 MiB" });
    const i915 = drmFile("i915", "0000:04:00.0", "3", { "resident-local0": "1024 MiB" });
    await processAt(proc, 100, { 5: xe, 6: xe, 7: i915 });
    await processAt(proc, 200, { 4: xe, 5: other });
    expect(await linuxDevices({ drm, proc })).toMatchObject([
      { name: "SYCL0", description: "xe card0", totalBytes: 12 * 1024 * MiB, freeBytes: 9.5 * 1024 * MiB },
      { name: "SYCL1", description: "i915 card1", totalBytes: 6 * 1024 * MiB, freeBytes: 5 * 1024 * MiB },
    ]);
    expect((await new DrmWatch(proc).of(100)).get("0000:03:00.0")).toMatchObject({
      deviceBytes: 2 * 1024 * MiB,
      hostBytes: 64 * MiB,
    });
  });

  it("have nothing of a process that has ended, or that is not ours to look into", async () => {
    const proc = path.join(folder, "none-proc");
    await processAt(proc, 100, {});
    expect((await new DrmWatch(proc).of(100)).size).toBe(0);
    expect((await new DrmWatch(proc).of(101)).size).toBe(0);
    expect((await new DrmWatch(path.join(folder, "no-proc")).all()).size).toBe(0);
  });
});

/** A card whose `device` leads to its place on the PCI bus, as in sysfs. */
async function cardAt(
  root: string,
  name: string,
  pci: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  const place = path.join(root, "devices", pci);
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(place, file)), { recursive: true });
    await writeFile(path.join(place, file), text);
  }
  await mkdir(path.join(root, name), { recursive: true });
  await symlink(place, path.join(root, name, "device"), "junction");
}

/** A file of fdinfo, in the form the kernel's documentation shows. */
function drmFile(
  driver: string,
  pci: string,
  client: string,
  memory: Readonly<Record<string, string>>,
): string {
  const regions = Object.entries(memory).map(([region, size]) => `drm-${region}:\t${size}`);
  const head = ["pos:\t0", "flags:\t0100002", "mnt_id:\t26", "ino:\t685"];
  const names = [`drm-driver:\t${driver}`, `drm-client-id:\t${client}`, `drm-pdev:\t${pci}`];
  return [...head, ...names, ...regions, "drm-total-cycles-rcs:\t7655183225", ""].join("\n");
}

/** A process with so many files open; those of graphics cards by number. */
async function processAt(root: string, pid: number, drm: Readonly<Record<number, string>>): Promise<void> {
  const folders = ["fd", "fdinfo"].map((name) => path.join(root, String(pid), name));
  const [fd = "", info = ""] = folders;
  for (const each of folders) await mkdir(each, { recursive: true });
  await symlink("/dev/null", path.join(fd, "0"), "file");
  await writeFile(path.join(info, "0"), "pos:\t0\n");
  for (const [number, text] of Object.entries(drm)) {
    await symlink("/dev/dri/renderD128", path.join(fd, number), "file");
    await writeFile(path.join(info, number), text);
  }
}

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

describe("one look at memory", () => {
  it("measures the host and every card, and starts nothing that stays", async () => {
    const drm = path.join(folder, "look-drm");
    await card(drm, "card0", { mem_info_vram_total: "8589934592\n", mem_info_vram_used: "4294967296\n" });
    const options = { nvidia: path.join(folder, "missing"), roots: { drm } };
    const { devices, host, at } = await lookAtMemory(options, never);
    expect(devices).toEqual([{ name: "ROCm0", totalBytes: 8192 * MiB, freeBytes: 4096 * MiB }]);
    expect(host.freeBytes).toBeLessThanOrEqual(host.totalBytes);
    expect(Math.abs(Date.now() - at)).toBeLessThan(60_000);
  });
});

describe("a process's memory on Windows", () => {
  it("is what stays in memory, and what it holds on GPUs, by the names the counters have", () => {
    const gpu = [
      "pid_4242_luid_0x00000000_0x0000D1B8_phys_0 5368709120",
      "pid_4242_luid_0x00000000_0x0000E2C9_phys_0 1073741824",
      "pid_42_luid_0x00000000_0x0000D1B8_phys_0 999",
    ];
    expect(parseProcessMemory(JSON.stringify({ resident: 3_221_225_472, gpu }), 4242)).toEqual({
      pid: 4242,
      residentBytes: 3_221_225_472,
      devices: [{ name: "GPU", bytes: 6 * 2 ** 30 }],
    });
    expect(parseProcessMemory('{"resident":1024,"gpu":[]}', 1)).toEqual({ pid: 1, residentBytes: 1024 });
  });

  it.each(['{"resident":null,"gpu":[]}', "", "Get-Process : Cannot find a process"])(
    "is nothing where the process is gone: %s",
    (line) => expect(parseProcessMemory(line, 1)).toBeUndefined(),
  );
});
