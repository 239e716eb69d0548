import { readFile } from "node:fs/promises";
import os from "node:os";

/** Host memory; bytes. */
export interface HostMemory {
  readonly totalBytes: number;
  /** What programs can take without paging: page cache counts as free. */
  readonly availableBytes: number;
  readonly swapFreeBytes?: number;
}

export async function hostMemory(): Promise<HostMemory> {
  const totalBytes = os.totalmem();
  const meminfo = process.platform === "linux" ? await readFile("/proc/meminfo", "utf8").catch(() => "") : "";
  const kib = (key: string): number | undefined => {
    const value = new RegExp(`^${key}:\\s+(\\d+) kB$`, "m").exec(meminfo)?.[1];
    return value === undefined ? undefined : Number(value) * 1024;
  };
  const swapFreeBytes = kib("SwapFree");
  return {
    totalBytes,
    availableBytes: kib("MemAvailable") ?? os.freemem(),
    ...(swapFreeBytes === undefined ? {} : { swapFreeBytes }),
  };
}
