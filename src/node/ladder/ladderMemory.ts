import { readFile } from "node:fs/promises";
import type { DevicePeak, StepMemory } from "../../core/ladder/score/record";
import { withAny } from "../../core/signals";
import { measureMemory, type MeasuredMemory } from "../machine/measureMemory";

export interface StepMemoryWatch {
  stop(): Promise<StepMemory>;
}

const secondsBetweenLooks = 1;
const secondsBetweenDevices = 5;

/**
 * Watches the server's process, the host and its devices while a rung runs. It never fails a run: what cannot be seen is
 * absent. `local` is false for a server on another machine, of which nothing can be seen.
 */
export function watchStepMemory(
  { pid, local }: { readonly pid: number | undefined; readonly local: boolean },
  signal: AbortSignal,
  measure: (signal: AbortSignal) => Promise<MeasuredMemory> = (its) => measureMemory({}, its),
): StepMemoryWatch {
  if (!local) return { stop: () => Promise.resolve({ devices: [] }) };
  const done = new AbortController();
  const devices = new Map<string, DevicePeak>();
  let serverPeak: number | undefined;
  let hostLeast: number | undefined;
  let hostTotal: number | undefined;

  const keep = (seen: MeasuredMemory): void => {
    hostTotal = seen.host.totalBytes;
    hostLeast = Math.min(hostLeast ?? Infinity, seen.host.availableBytes);
    for (const { name, freeBytes, totalBytes } of seen.devices) {
      const leastFreeBytes = Math.min(devices.get(name)?.leastFreeBytes ?? Infinity, freeBytes);
      devices.set(name, { name, totalBytes, leastFreeBytes });
    }
  };
  const look = async (): Promise<void> => {
    const resident = pid === undefined ? undefined : await residentBytes(pid);
    if (resident !== undefined) serverPeak = Math.max(serverPeak ?? 0, resident);
  };
  const loop = withAny([signal, done.signal], async (stop) => {
    for (let n = 0; !stop.aborted; n++) {
      await look();
      // without devices only the host is left, and one look a rung shows as much
      if (n % (secondsBetweenDevices / secondsBetweenLooks) === 0 && (n === 0 || devices.size > 0)) {
        await measure(stop).then(keep, () => undefined);
      }
      await pause(secondsBetweenLooks, stop);
    }
  }).catch(() => undefined);

  return {
    stop: async () => {
      await look();
      await measure(signal).then(keep, () => undefined);
      done.abort();
      await loop;
      return {
        ...(serverPeak !== undefined && { serverPeakBytes: serverPeak }),
        ...(hostLeast !== undefined && { hostLeastFreeBytes: hostLeast }),
        ...(hostTotal !== undefined && { hostTotalBytes: hostTotal }),
        devices: [...devices.values()],
      };
    },
  };
}

/** Resident memory of a process; Linux only. */
async function residentBytes(pid: number): Promise<number | undefined> {
  if (process.platform !== "linux") return undefined;
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kib === undefined ? undefined : Number(kib) * 1024;
}

function pause(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, seconds * 1000);
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    }
    signal.addEventListener("abort", end);
  });
}
