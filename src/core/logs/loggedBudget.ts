import type { LogFacts } from "./reading/logFacts";
import { hostName } from "../memory/devices/memoryDevice";
import type { LoggedBudget } from "../memory/budget/memoryReport";

/**
 * What a server wrote into its log when it loaded (b11669 does from `-lv 4` on), by device as budgets name
 * them; undefined where the log does not say. Draft contexts are left out, as in our own rows.
 */
export function loggedBudget({ weights, contexts }: LogFacts): readonly LoggedBudget[] | undefined {
  const [main] = contexts;
  if (weights.length === 0 || main === undefined || main.compute.length === 0) return undefined;
  const rows = new Map<string, { modelBytes: number; contextBytes: number; computeBytes: number }>();
  const add = (
    field: "modelBytes" | "contextBytes" | "computeBytes",
    device: string,
    bytes: number,
  ): void => {
    const name = deviceOf(device);
    const row = rows.get(name) ?? { modelBytes: 0, contextBytes: 0, computeBytes: 0 };
    row[field] += bytes;
    rows.set(name, row);
  };
  for (const { device, bytes } of weights) add("modelBytes", device, bytes);
  for (const { devices } of [...main.kv, ...(main.recurrent === undefined ? [] : [main.recurrent])]) {
    for (const { device, bytes } of devices) add("contextBytes", device, bytes);
  }
  for (const { device, bytes } of main.compute) add("computeBytes", device, bytes);
  return [...rows].map(([name, row]) => ({ name, ...row }));
}

/** Buffer types of one device: mapped files, pinned host memory, repacked weights, remote addresses. */
function deviceOf(buffer: string): string {
  const plain = buffer.replace(/_(Mapped|Private|Split)$/, "").replace(/^(\w*\d)\[.*\]$/, "$1");
  return /^CPU\b|^CPU_|_Host$|^AMX$/.test(plain) ? hostName : plain;
}
