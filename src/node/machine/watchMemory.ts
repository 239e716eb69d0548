import { readFile } from "node:fs/promises";
import { runTool } from "../process/runTool";
import type { LiveDevice, LiveMemory, ServerMemory } from "../../core/memory/devices/liveMemory";
import { hostMemory } from "./hostMemory";
import { linuxDevices, type LinuxDevice, type LinuxRoots } from "./linuxDevices";
import { nvidiaDevices, nvidiaQuery, parseNvidiaLine } from "./nvidiaDevices";
import { DrmWatch } from "./drmClients";
import { startGuarded } from "../process/guardedProcess";
import { WindowsProcessMemory } from "./processMemoryWindows";

export interface LiveOptions {
  /** Address of the server whose process is looked at. */
  readonly serverUrl?: string;
  readonly intervalSeconds?: number;
  /** NVIDIA's tool. */
  readonly nvidia?: string;
  readonly roots?: LinuxRoots;
}

const usualInterval = 5;
/** Looks that search for a server's process that is not known; later every so many, for one that was started since. */
const firstSearches = 3;
const looksBetweenSearches = 12;

/**
 * Measures memory again and again until it is told to stop: files of the kernel, and one nvidia-smi for the whole watch.
 * What cannot be read is left out.
 */
export function watchMemory(options: LiveOptions, show: (memory: LiveMemory) => void): { stop(): void } {
  const seconds = options.intervalSeconds ?? usualInterval;
  const nvidia = new Map<string, LiveDevice>();
  const driver = startGuarded(
    options.nvidia ?? "nvidia-smi",
    [...nvidiaQuery, "-l", String(seconds)],
    (from, line) => {
      const device = from === "stdout" ? parseNvidiaLine(line) : undefined;
      if (device !== undefined) nvidia.set(device.name, device);
    },
  );
  // an unplugged card, or a driver that died, has nothing to say any more
  driver.ended.then(() => nvidia.clear()).catch(() => undefined);
  const stopped = new AbortController();
  const looker = new Looker(options);

  const look = async (): Promise<void> => {
    // a look that fails shows nothing, and the next may see something
    const seen = looker.look(() => Promise.resolve([...nvidia.values()]), stopped.signal);
    const memory = await seen.catch(() => undefined);
    if (stopped.signal.aborted) return;
    if (memory !== undefined) show(memory);
    lookIn(seconds * 1000);
  };
  let timer: NodeJS.Timeout | undefined;
  const lookIn = (milliseconds: number): void => {
    timer = setTimeout(() => {
      look().catch(() => undefined);
    }, milliseconds);
  };
  lookIn(0);
  return {
    stop: () => {
      stopped.abort();
      clearTimeout(timer);
      driver.kill();
      looker.close();
    },
  };
}

/** One look, for what shows a moment. */
export async function lookAtMemory(options: LiveOptions, signal: AbortSignal): Promise<LiveMemory> {
  const looker = new Looker(options);
  const tool = options.nvidia === undefined ? {} : { program: options.nvidia };
  try {
    return await looker.look(() => nvidiaDevices(signal, tool).catch(() => []), signal);
  } finally {
    looker.close();
  }
}

/** What a running server's process holds; undefined where it is none of this machine's, or nobody tells. */
export async function memoryOfServer(
  serverUrl: string,
  signal: AbortSignal,
): Promise<ServerMemory | undefined> {
  const looker = new Looker({ serverUrl });
  try {
    return (await looker.look(() => Promise.resolve([]), signal)).server;
  } finally {
    looker.close();
  }
}

class Looker {
  private readonly drm: DrmWatch;
  private readonly windows = process.platform === "win32" ? new WindowsProcessMemory() : undefined;
  /** The server's own, and those of a router's models. */
  private pids: readonly number[] = [];
  /** Since the process was lost. */
  private looks = 0;

  constructor(private readonly options: LiveOptions) {
    this.drm = new DrmWatch(options.roots?.proc);
  }

  async look(nvidia: () => Promise<readonly LiveDevice[]>, signal: AbortSignal): Promise<LiveMemory> {
    const { serverUrl, roots } = this.options;
    const again = this.looks % looksBetweenSearches === 0;
    // a router starts and ends processes for its models
    const unsure =
      this.pids.length === 0 ? this.looks < firstSearches || again : this.pids.length > 1 && again;
    if (serverUrl !== undefined && unsure) this.pids = await processesOf(serverUrl, signal).catch(() => []);
    this.looks++;
    const [host, cards, nvidiaCards] = await Promise.all([
      hostMemory(),
      linuxDevices({ ...roots, use: () => this.drm.all() }),
      nvidia(),
    ]);
    const held = await Promise.all(this.pids.map((pid) => this.serverOf(pid, cards, signal)));
    const server = together(held);
    if (this.pids.length > 0 && server === undefined) {
      this.pids = [];
      this.looks = 0;
    }
    return {
      at: Date.now(),
      devices: [...nvidiaCards, ...cards].map(({ name, totalBytes, freeBytes }) => ({
        name,
        totalBytes,
        freeBytes,
      })),
      host: { name: "Host", totalBytes: host.totalBytes, freeBytes: host.availableBytes },
      ...(server && { server }),
    };
  }

  close(): void {
    this.windows?.close();
  }

  /** undefined where the process is gone, or nobody tells. */
  private async serverOf(
    pid: number,
    cards: readonly LinuxDevice[],
    signal: AbortSignal,
  ): Promise<ServerMemory | undefined> {
    if (this.windows !== undefined) return this.windows.of(pid);
    if (process.platform !== "linux") {
      const residentBytes = await residentOfPs(pid, signal);
      return residentBytes === undefined ? undefined : { pid, residentBytes };
    }
    const memory = await processOfLinux(pid, this.options.roots?.proc);
    if (memory === undefined) return undefined;
    const use = await this.drm.of(pid);
    const devices = [...use.values()]
      .filter(({ deviceBytes }) => deviceBytes > 0)
      .map(({ driver, device, deviceBytes }) => ({
        name: cards.find(({ pci }) => pci === device)?.name ?? `${driver} ${device}`,
        bytes: deviceBytes,
      }));
    return { pid, ...memory, ...(devices.length > 0 && { devices }) };
  }
}

async function processesOf(url: string, signal: AbortSignal): Promise<readonly number[]> {
  const { serverPidsAt } = await import("./processDiscovery");
  return serverPidsAt(url, signal);
}

/** Of a server and its children; undefined where the server itself is gone. */
function together([own, ...children]: readonly (ServerMemory | undefined)[]): ServerMemory | undefined {
  if (own === undefined) return undefined;
  return children.reduce<ServerMemory>((all, child) => (child === undefined ? all : sumOf(all, child)), own);
}

function sumOf(one: ServerMemory, other: ServerMemory): ServerMemory {
  const devices = new Map<string, number>();
  for (const { name, bytes } of [...(one.devices ?? []), ...(other.devices ?? [])]) {
    devices.set(name, (devices.get(name) ?? 0) + bytes);
  }
  const swapped = one.swappedBytes ?? other.swappedBytes;
  return {
    pid: one.pid,
    residentBytes: one.residentBytes + other.residentBytes,
    ...(swapped !== undefined && { swappedBytes: (one.swappedBytes ?? 0) + (other.swappedBytes ?? 0) }),
    ...(devices.size > 0 && { devices: Array.from(devices, ([name, bytes]) => ({ name, bytes })) }),
  };
}

async function processOfLinux(pid: number, proc = "/proc"): Promise<Omit<ServerMemory, "pid"> | undefined> {
  const status = await readFile(`${proc}/${pid}/status`, "utf8").catch(() => "");
  const bytesOf = (name: string): number | undefined => {
    const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1];
    return kib === undefined ? undefined : Number(kib) * 1024;
  };
  const residentBytes = bytesOf("VmRSS");
  const swappedBytes = bytesOf("VmSwap");
  return residentBytes === undefined
    ? undefined
    : { residentBytes, ...(swappedBytes !== undefined && { swappedBytes }) };
}

async function residentOfPs(pid: number, signal: AbortSignal): Promise<number | undefined> {
  const limits = { milliseconds: 5000 };
  // who stops looking is told nothing
  const run = await runTool("ps", ["-o", "rss=", "-p", String(pid)], limits, signal).catch(() => undefined);
  return run !== undefined && /^\s*\d+\s*$/.test(run.stdout) ? Number(run.stdout) * 1024 : undefined;
}
