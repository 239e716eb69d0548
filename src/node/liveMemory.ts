import { readFile } from "node:fs/promises";
import { execa } from "execa";
import type { LiveDevice, LiveMemory, LiveServer } from "../core/memory/liveMemory";
import { hostMemory } from "./devicesHost";
import { amdDevices } from "./devicesLinux";
import { nvidiaQuery, parseNvidiaLine } from "./devicesNvidia";
import { startGuarded } from "./llamaBenchProcess";

export interface LiveOptions {
  /** Address of the server whose process is looked at. */
  readonly serverUrl?: string;
  readonly intervalSeconds?: number;
  /** NVIDIA's tool. */
  readonly nvidia?: string;
}

const usualInterval = 5;
/** A server that was started later is found by then. */
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
  void driver.ended.then(() => nvidia.clear());
  const stopped = new AbortController();
  let pid: number | undefined;
  let looks = 0;

  const look = async (): Promise<void> => {
    if (pid === undefined && options.serverUrl !== undefined && looks % looksBetweenSearches === 0) {
      pid = await processOf(options.serverUrl, stopped.signal).catch(() => undefined);
    }
    looks++;
    const [host, amd] = await Promise.all([hostMemory(), amdDevices()]);
    const server = pid === undefined ? undefined : await serverOf(pid, stopped.signal);
    if (server === undefined) pid = undefined;
    if (stopped.signal.aborted) return;
    show({
      at: Date.now(),
      devices: [...nvidia.values(), ...amd],
      host: { name: "Host", totalBytes: host.totalBytes, freeBytes: host.availableBytes },
      ...(server && { server }),
    });
    timer = setTimeout(() => void look(), seconds * 1000);
  };
  let timer = setTimeout(() => void look(), 0);
  return {
    stop: () => {
      stopped.abort();
      clearTimeout(timer);
      driver.kill();
    },
  };
}

async function processOf(url: string, signal: AbortSignal): Promise<number | undefined> {
  const { hostname, port } = new URL(url);
  if (!/^(127\.|localhost$|\[::1\]$)/.test(hostname)) return undefined;
  const { runningLlamaServers } = await import("./processDiscovery");
  const servers = await runningLlamaServers(signal);
  return servers.find(({ urls }) => urls.some((its) => new URL(its).port === port))?.pid;
}

/** undefined where the process is gone, or nobody tells. */
async function serverOf(pid: number, signal: AbortSignal): Promise<LiveServer | undefined> {
  const residentBytes =
    process.platform === "linux" ? await residentOfLinux(pid) : await residentOfPs(pid, signal);
  return residentBytes === undefined ? undefined : { pid, residentBytes };
}

async function residentOfLinux(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kib === undefined ? undefined : Number(kib) * 1024;
}

async function residentOfPs(pid: number, signal: AbortSignal): Promise<number | undefined> {
  if (process.platform === "win32") return undefined;
  const { stdout } = await execa("ps", ["-o", "rss=", "-p", String(pid)], {
    reject: false,
    timeout: 5000,
    cancelSignal: signal,
    stdin: "ignore",
  });
  return /^\s*\d+\s*$/.test(stdout) ? Number(stdout) * 1024 : undefined;
}
