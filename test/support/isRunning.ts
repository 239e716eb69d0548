import { readFileSync } from "node:fs";

/** Whether a process still does anything; one that has ended but was not collected by its parent does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    const [state] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1) ?? "";
    return state !== "Z" && state !== "X";
  } catch {
    // no /proc on this system, or it has just ended: ask again
    return process.platform !== "linux";
  }
}
