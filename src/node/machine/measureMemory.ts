import { runTool } from "../process/runTool";
import type { MemoryDevice } from "../../core/memory/devices/memoryDevice";
import { parseDeviceList, type ListedDevice } from "../../core/memory/devices/deviceList";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { linuxDevices, type LinuxRoots } from "./linuxDevices";
import { unifiedMemory } from "./macDevices";
import { nvidiaDevices, type NvidiaTool } from "./nvidiaDevices";
import { hostMemory, type HostMemory } from "./hostMemory";
import type { MeasuredDevice } from "./measuredDevice";

export interface MeasuredMemory {
  readonly devices: readonly MeasuredDevice[];
  readonly host: HostMemory;
  /** Tools that were asked and did not answer; not errors. */
  readonly silent: readonly string[];
}

const milliseconds = 10_000;

/** Devices as the user's llama.cpp can use them: the authority on names and on what its backend may take. */
export async function listDevices(
  program: string,
  rpc: readonly string[],
  signal: AbortSignal,
): Promise<readonly ListedDevice[]> {
  const args = [...(rpc.length === 0 ? [] : ["--rpc", rpc.join(",")]), "--list-devices"];
  const result = await runTool(program, args, { milliseconds }, signal);
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

export interface MeasureRequest {
  /** The user's llama-server. */
  readonly program?: string;
  readonly rpc?: readonly string[];
  readonly nvidia?: NvidiaTool;
  readonly roots?: LinuxRoots;
}

/**
 * Measures once, on demand: llama.cpp's own list where a program is given, else the graphics driver and sysfs. A tool
 * that is missing, hangs or speaks another language is named in `silent`.
 */
export async function measureMemory(request: MeasureRequest, signal: AbortSignal): Promise<MeasuredMemory> {
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
  const [nvidia, others] = await Promise.all([
    attempt("nvidia-smi", () => nvidiaDevices(signal, request.nvidia)),
    attempt("sysfs", () => linuxDevices(request.roots)),
  ]);
  return { devices: [...nvidia, ...others], host, silent };
}

/** Free memory by device, for `memoryBudget`; the host's is what can be had without paging. */
export function budgetDevices({ devices, host }: MeasuredMemory): readonly MemoryDevice[] {
  return [
    ...devices.map(({ name, freeBytes, totalBytes }) => ({ name, freeBytes, totalBytes })),
    { name: "Host", freeBytes: host.availableBytes, totalBytes: host.totalBytes },
  ];
}
