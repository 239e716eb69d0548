import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { MeasuredDevice } from "./devices";

const drm = "/sys/class/drm";

/** amdgpu's own counters; empty on other systems. Integrated GPUs also take from host memory (GTT). */
export async function amdDevices(root = drm): Promise<readonly MeasuredDevice[]> {
  const cards = (await readdir(root).catch(() => [])).filter((name) => /^card\d+$/.test(name)).sort();
  const found: MeasuredDevice[] = [];
  for (const card of cards) {
    const folder = path.join(root, card, "device");
    const total = await numberIn(path.join(folder, "mem_info_vram_total"));
    const used = await numberIn(path.join(folder, "mem_info_vram_used"));
    if (total === undefined || used === undefined || total === 0) continue;
    found.push({
      name: `ROCm${found.length}`,
      description: `amdgpu ${card}`,
      totalBytes: total,
      freeBytes: Math.max(0, total - used),
      from: "sysfs",
    });
  }
  return found;
}

async function numberIn(file: string): Promise<number | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  const value = text === undefined ? NaN : Number(text.trim());
  return Number.isFinite(value) ? value : undefined;
}
