import os from "node:os";
import path from "node:path";
import { runTool } from "../process/runTool";
import type { ProcessUse, SystemSnapshot } from "../../core/monitor/systemSnapshot";

/** macOS: the difference of two `ps` readings; its percent column is an average over a minute and no use here. */
export async function psSnapshot(signal: AbortSignal): Promise<SystemSnapshot> {
  const at = Date.now() / 1000;
  const [processes, power] = await Promise.all([
    output("/bin/ps", ["-Ao", "pid=,ppid=,time=,comm="], signal),
    output("/usr/bin/pmset", ["-g", "ps"], signal),
  ]);
  return {
    at,
    processes: parsePs(processes),
    freeMemoryBytes: os.freemem(),
    ...(power !== "" && { onBattery: power.includes("Battery Power") }),
  };
}

async function output(file: string, args: readonly string[], signal: AbortSignal): Promise<string> {
  return (await runTool(file, args, { milliseconds: 5000, maxBytes: 4e6 }, signal)).stdout;
}

/** Lines of `pid ppid [[dd-]hh:]mm:ss[.cc] command`. */
export function parsePs(text: string): readonly ProcessUse[] {
  return text.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:[.,]\d+)?)\s+(.+?)\s*$/.exec(line);
    if (match === null) return [];
    const [, pid, parent, days = "0", hours = "0", minutes = "0", rest = "0", command = ""] = match;
    const cpuSeconds =
      ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(rest.replace(",", "."));
    return [{ pid: Number(pid), parent: Number(parent), cpuSeconds, name: path.posix.basename(command) }];
  });
}
