import { runTool } from "../process/runTool";
import type { MeasuredDevice } from "./measuredDevice";

/** Machine-readable in every language of the driver; sizes in MiB. */
export const nvidiaQuery = [
  "--query-gpu=index,memory.total,memory.free,name",
  "--format=csv,noheader,nounits",
] as const;

/**
 * A line of `nvidia-smi` with that query. undefined for anything else, and for a GPU without memory of its own (`[N/A]`),
 * which is the host's.
 */
export function parseNvidiaLine(line: string): MeasuredDevice | undefined {
  const [, index, total, free, name] = /^\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,\s*(.+?)\s*$/.exec(line) ?? [];
  if (index === undefined || name === undefined) return undefined;
  return {
    name: `CUDA${index}`,
    description: name,
    totalBytes: Number(total) * 2 ** 20,
    freeBytes: Number(free) * 2 ** 20,
    from: "driver",
  };
}

export interface NvidiaTool {
  readonly program?: string;
  /** Milliseconds. */
  readonly timeout?: number;
}

/** What NVIDIA's driver says; empty where it is not installed. Fails where its tool hangs, or says what it never says. */
export async function nvidiaDevices(
  signal: AbortSignal,
  { program = "nvidia-smi", timeout = 10_000 }: NvidiaTool = {},
): Promise<readonly MeasuredDevice[]> {
  const result = await runTool(program, nvidiaQuery, { milliseconds: timeout }, signal);
  if (result.code === "ENOENT") return [];
  const lines = result.stdout.split(/\r?\n/).filter((line) => line.trim() !== "");
  const devices = lines.flatMap((line) => parseNvidiaLine(line) ?? []);
  const foreign =
    lines.length > 0 && devices.length === 0 && !lines.some((line) => /\[.*N\/A.*\]/.test(line));
  if (result.exitCode !== 0 || foreign) throw new Error(`nvidia-smi: ${result.stdout.slice(0, 200)}`);
  return devices;
}
