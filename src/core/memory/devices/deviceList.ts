import type { MemoryDevice } from "./memoryDevice";

export interface ListedDevice extends MemoryDevice {
  readonly description: string;
  readonly totalBytes: number;
}

/**
 * Output of `llama-server --list-devices`: `  CUDA0: NVIDIA … (24105 MiB, 23800 MiB free)`. undefined where the output is
 * something else; empty where there is no device.
 */
export function parseDeviceList(stdout: string): readonly ListedDevice[] | undefined {
  const lines = stdout.split(/\r?\n/);
  const start = lines.findIndex((line) => line.startsWith("Available devices:"));
  if (start < 0) return undefined;
  return lines.slice(start + 1).flatMap((line): ListedDevice[] => {
    const match = /^\s+([^\s:]+): (.*) \((\d+) MiB, (\d+) MiB free\)\s*$/.exec(line);
    if (match === null) return [];
    const [, name = "", description = "", total, free] = match;
    return [{ name, description, totalBytes: Number(total) * 2 ** 20, freeBytes: Number(free) * 2 ** 20 }];
  });
}
