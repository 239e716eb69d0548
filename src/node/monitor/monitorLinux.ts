import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import path from "node:path";
import type { ProcessUse, SystemSnapshot } from "../../core/monitor/systemSnapshot";
import { largest } from "../../core/lists";

/** Kernel clock ticks per second of /proc; 100 on every Linux that Node runs on. */
const ticks = 100;
const page = 4096;

/**
 * Reads /proc and /sys. Synchronous on purpose: these files are memory, and a thread hop per file costs more than the
 * read. Names are looked up once per process.
 */
export class LinuxSystem {
  readonly #names = new Map<number, { readonly started: string; readonly name: string }>();
  readonly #clocks = cpuFiles("cpufreq/scaling_cur_freq");
  readonly #throttles = cpuFiles("thermal_throttle/core_throttle_count");
  readonly #supplies = powerSupplies();

  snapshot(): SystemSnapshot {
    const at = Number(text("/proc/uptime")?.split(" ")[0] ?? performance.now() / 1000);
    const stat = cpuTimes(text("/proc/stat") ?? "");
    const available = field(text("/proc/meminfo") ?? "", "MemAvailable:");
    const swapped = field(text("/proc/vmstat") ?? "", "pswpin");
    const clocks = this.#clocks.map((file) => Number(text(file))).filter((khz) => khz > 0);
    const throttles = this.#throttles.map((file) => Number(text(file) ?? 0));
    const onBattery = batteryState(this.#supplies);
    return {
      at,
      processes: this.#processes(),
      ...stat,
      ...(available !== undefined && { freeMemoryBytes: available * 1024 }),
      ...(swapped !== undefined && { swappedInBytes: swapped * page }),
      ...(clocks.length > 0 && { clockMhz: largest(clocks) / 1000 }),
      ...(throttles.length > 0 && { throttles: throttles.reduce((s, n) => s + n, 0) }),
      ...(onBattery !== undefined && { onBattery }),
    };
  }

  #processes(): readonly ProcessUse[] {
    const found: ProcessUse[] = [];
    for (const entry of readdirSync("/proc")) {
      const pid = Number(entry);
      if (!Number.isInteger(pid)) continue;
      const stat = text(`/proc/${entry}/stat`);
      if (stat === undefined) continue;
      // The name stands in parentheses and may hold spaces and parentheses itself.
      const close = stat.lastIndexOf(")");
      const fields = stat.slice(close + 2).split(" ");
      const [, parent = "0"] = fields;
      const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / ticks;
      const endedChildrenSeconds = (Number(fields[13]) + Number(fields[14])) / ticks;
      const short = stat.slice(stat.indexOf("(") + 1, close);
      // Another program in the same process has another short name.
      const name = this.#name(pid, `${fields[19] ?? ""} ${short}`, short);
      found.push({ pid, parent: Number(parent), cpuSeconds, endedChildrenSeconds, name });
    }
    return found;
  }

  #name(pid: number, started: string, short: string): string {
    const known = this.#names.get(pid);
    if (known?.started === started) return known.name;
    const [first = ""] = (text(`/proc/${pid}/cmdline`) ?? "").split("\0");
    // Programs that write a title over their arguments may put anything into it; the short name is the program's.
    const name = first === "" || /\s/.test(first) ? short : path.basename(first).slice(0, 60);
    this.#names.set(pid, { started, name });
    return name;
  }
}

/** The process that listens on a TCP port of this machine, as far as we may see its files. */
export function listeningProcess(port: number): number | undefined {
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  const sockets = new Set<string>();
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of (text(table) ?? "").split("\n").slice(1)) {
      const fields = line.trim().split(/\s+/);
      if (fields[3] === "0A" && fields[1]?.endsWith(`:${wanted}`) === true)
        sockets.add(`socket:[${fields[9] ?? ""}]`);
    }
  }
  if (sockets.size === 0) return undefined;
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const files = readdirSync(`/proc/${entry}/fd`);
      if (files.some((fd) => sockets.has(link(`/proc/${entry}/fd/${fd}`)))) return Number(entry);
    } catch {
      // another user's process, or one that has just ended
    }
  }
  return undefined;
}

function link(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return "";
  }
}

function text(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function cpuTimes(stat: string): { readonly busySeconds: number; readonly stolenSeconds: number } {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (
    /^cpu +(.*)/.exec(stat)?.[1] ?? ""
  )
    .split(" ")
    .map(Number);
  return { busySeconds: (user + nice + system + irq + softirq) / ticks, stolenSeconds: steal / ticks };
}

function field(table: string, name: string): number | undefined {
  const match = new RegExp(`^${name}\\s+(\\d+)`, "m").exec(table);
  return match === null ? undefined : Number(match[1]);
}

/** A file of up to eight processors: more would only cost time. */
function cpuFiles(name: string): readonly string[] {
  const files = Array.from({ length: 8 }, (_, i) => `/sys/devices/system/cpu/cpu${i}/${name}`);
  return files.filter((file) => text(file) !== undefined);
}

function powerSupplies(): readonly string[] {
  try {
    return readdirSync("/sys/class/power_supply").map((name) => `/sys/class/power_supply/${name}`);
  } catch {
    return [];
  }
}

function batteryState(supplies: readonly string[]): boolean | undefined {
  const states = supplies
    .filter(
      (supply) =>
        text(`${supply}/type`)?.trim() === "Battery" && text(`${supply}/scope`)?.trim() !== "Device",
    )
    .map((supply) => text(`${supply}/status`)?.trim());
  return states.length === 0 ? undefined : states.includes("Discharging");
}
