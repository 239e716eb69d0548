import { execa } from "execa";
import type { MemoryDevice } from "../core/memory/devices";
import { parseDeviceList, type ListedDevice } from "../core/memory/deviceList";
import { say } from "../core/text";
import { UserError } from "../core/userError";
import { amdDevices } from "./devicesLinux";
import { unifiedMemory } from "./devicesMac";
import { hostMemory, type HostMemory } from "./devicesHost";

/** What one place says about a device's memory; bytes. */
export interface MeasuredDevice {
  readonly name: string;
  readonly description: string;
  readonly totalBytes: number;
  readonly freeBytes: number;
  readonly from: "llama.cpp" | "driver" | "sysfs";
}

export interface MeasuredMemory {
  readonly devices: readonly MeasuredDevice[];
  readonly host: HostMemory;
  /** Tools that were asked and did not answer; not errors. */
  readonly silent: readonly string[];
}

const timeout = 10_000;

/** Devices as the user's llama.cpp can use them: the authority on names and on what its backend may take. */
export async function listDevices(
  program: string,
  rpc: readonly string[],
  signal: AbortSignal,
): Promise<readonly ListedDevice[]> {
  const args = [...(rpc.length === 0 ? [] : ["--rpc", rpc.join(",")]), "--list-devices"];
  const result = await execa(program, args, {
    reject: false,
    timeout,
    maxBuffer: 2 ** 20,
    cancelSignal: signal,
    forceKillAfterDelay: 1000,
    stdin: "ignore",
  });
  signal.throwIfAborted();
  const listed = parseDeviceList(result.stdout);
  if (result.exitCode === 0 && listed !== undefined) return listed;
  throw new UserError(
    result.timedOut ? "timeout" : result.code === "ENOENT" ? "notFound" : "outsideFailed",
    rpc.length === 0
      ? say`${program} did not list its devices.`
      : say`${program} did not list its devices: an RPC server may be unreachable (${rpc.join(", ")}).`,
    say`Check the path of llama.cpp and its RPC servers; the budget is shown without devices.`,
  );
}

/**
 * Measures once, on demand: llama.cpp's own list where a program is given, else the graphics driver and sysfs. A tool
 * that is missing, hangs or speaks another language is named in `silent`.
 */
export async function measureMemory(
  request: { readonly program?: string; readonly rpc?: readonly string[] },
  signal: AbortSignal,
): Promise<MeasuredMemory> {
  const silent: string[] = [];
  const attempt = async <T>(name: string, ask: () => Promise<readonly T[]>): Promise<readonly T[]> => {
    try {
      return await ask();
    } catch {
      signal.throwIfAborted();
      silent.push(name);
      return [];
    }
  };
  const { program } = request;
  const [host, listed] = await Promise.all([
    hostMemory(),
    program === undefined
      ? Promise.resolve([])
      : attempt("llama.cpp", () => listDevices(program, request.rpc ?? [], signal)),
  ]);
  if (listed.length > 0 || (program !== undefined && silent.length === 0)) {
    return { devices: listed.map((device) => ({ ...device, from: "llama.cpp" })), host, silent };
  }
  if (process.platform === "darwin" && process.arch === "arm64") {
    const metal = await attempt("Metal", () => unifiedMemory(host.totalBytes, signal));
    return { devices: metal, host, silent };
  }
  const amd = await attempt("sysfs", () => amdDevices());
  const driver = await attempt("graphics driver", () => driverDevices(signal));
  return { devices: [...driver, ...amd], host, silent };
}

/** Free memory by device, for `memoryBudget`; the host's is what can be had without paging. */
export function budgetDevices({ devices, host }: MeasuredMemory): readonly MemoryDevice[] {
  return [
    ...devices.map(({ name, freeBytes, totalBytes }) => ({ name, freeBytes, totalBytes })),
    { name: "Host", freeBytes: host.availableBytes, totalBytes: host.totalBytes },
  ];
}

async function driverDevices(signal: AbortSignal): Promise<readonly MeasuredDevice[]> {
  const { graphics } = await import("systeminformation");
  const { controllers } = await withTimeout(graphics(), signal);
  return controllers
    .filter(({ memoryTotal, memoryFree }) => (memoryTotal ?? 0) > 0 && memoryFree !== undefined)
    .map((controller, i) => ({
      name: /nvidia/i.test(controller.vendor) ? `CUDA${i}` : `GPU${i}`,
      description: controller.name ?? controller.model,
      totalBytes: (controller.memoryTotal ?? 0) * 2 ** 20,
      freeBytes: (controller.memoryFree ?? 0) * 2 ** 20,
      from: "driver" as const,
    }));
}

/** systeminformation cannot be cancelled; what comes too late is dropped. */
async function withTimeout<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
  return await Promise.race([
    work,
    new Promise<never>((_, reject) => {
      limit.addEventListener("abort", () => reject(new Error("no answer in time")), { once: true });
    }),
  ]);
}
