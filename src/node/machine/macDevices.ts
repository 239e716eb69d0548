import { runTool } from "../process/runTool";
import type { MeasuredDevice } from "./measuredDevice";

/**
 * The part of unified memory Metal lets the GPU use: the user's own `iogpu.wired_limit_mb`, else the usual working set of
 * two thirds up to 36 GiB and three quarters above.
 */
export async function unifiedMemory(
  totalBytes: number,
  signal: AbortSignal,
  sysctl = "/usr/sbin/sysctl",
): Promise<readonly MeasuredDevice[]> {
  const { stdout } = await runTool(sysctl, ["-n", "iogpu.wired_limit_mb"], { milliseconds: 2000 }, signal);
  const limit = Number(stdout) * 2 ** 20;
  const usual = Math.floor(totalBytes * (totalBytes > 36 * 2 ** 30 ? 0.75 : 2 / 3));
  const usable = Number.isFinite(limit) && limit > 0 ? limit : usual;
  return [
    {
      name: "MTL0",
      description: "Apple GPU, unified memory",
      totalBytes: usable,
      freeBytes: usable,
      from: "driver",
    },
  ];
}
