import { readdir, readFile, realpath } from "node:fs/promises";
import path from "node:path";
import type { MeasuredDevice } from "./measuredDevice";
import { DrmWatch, type DrmUse } from "./drmClients";

/** Where the kernel shows its graphics cards and processes; absent: its own folders. */
export interface LinuxRoots {
  readonly drm?: string;
  readonly proc?: string;
  /** What all processes hold, where somebody knows already. */
  readonly use?: () => Promise<DrmUse>;
}

/** A card with memory of its own, and its address on the PCI bus. */
export interface LinuxDevice extends MeasuredDevice {
  readonly pci: string;
}

/**
 * Cards by the kernel's counters; empty on other systems. amdgpu counts what is used; xe and i915 say how much there is
 * (i915 only with Intel's own driver), and what is used is the sum over the processes we may look into. Integrated GPUs
 * take from host memory, and are none.
 */
export async function linuxDevices(roots: LinuxRoots = {}): Promise<readonly LinuxDevice[]> {
  const root = roots.drm ?? "/sys/class/drm";
  const cards = (await readdir(root).catch(() => [])).filter((name) => /^card\d+$/.test(name));
  cards.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const found: LinuxDevice[] = [];
  let used: Promise<DrmUse> | undefined;
  const count = { ROCm: 0, SYCL: 0 };
  for (const card of cards) {
    const folder = path.join(root, card, "device");
    const pci = path.basename(await realpath(folder).catch(() => folder));
    const amd = await numberIn(path.join(folder, "mem_info_vram_total"));
    const amdUsed = await numberIn(path.join(folder, "mem_info_vram_used"));
    const intel = amd === undefined ? await intelTotal(path.join(root, card)) : undefined;
    if (amd !== undefined && amd > 0 && amdUsed !== undefined) {
      found.push(device("ROCm", count.ROCm++, "amdgpu", card, pci, amd, amdUsed));
    } else if (intel !== undefined) {
      used ??= (roots.use ?? ((): Promise<DrmUse> => new DrmWatch(roots.proc).all()))();
      const client = (await used).get(pci);
      const driver = client?.driver ?? "xe";
      found.push(device("SYCL", count.SYCL++, driver, card, pci, intel, client?.deviceBytes ?? 0));
    }
  }
  return found;
}

function device(
  backend: string,
  index: number,
  driver: string,
  card: string,
  pci: string,
  totalBytes: number,
  used: number,
): LinuxDevice {
  return {
    name: `${backend}${index}`,
    description: `${driver} ${card}`,
    totalBytes,
    freeBytes: Math.max(0, totalBytes - used),
    from: "sysfs",
    pci,
  };
}

/** Physical memory of an Intel card: xe counts by tile, i915 (outside mainline) in one file. */
async function intelTotal(card: string): Promise<number | undefined> {
  const folder = path.join(card, "device");
  const tiles = (await readdir(folder).catch(() => [])).filter((name) => /^tile\d+$/.test(name));
  const sizes = await Promise.all(
    tiles.map(
      async (tile) =>
        (await numberIn(path.join(folder, tile, "physical_vram_size_bytes"))) ??
        (await numberIn(path.join(folder, tile, "memory", "physical_vram_size_bytes"))) ??
        0,
    ),
  );
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total > 0) return total;
  const local =
    (await numberIn(path.join(card, "lmem_total_bytes"))) ??
    (await numberIn(path.join(folder, "lmem_total_bytes")));
  return local === undefined || local === 0 ? undefined : local;
}

async function numberIn(file: string): Promise<number | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  const value = text === undefined ? NaN : Number(text.trim());
  return Number.isFinite(value) ? value : undefined;
}
