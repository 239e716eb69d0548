import type { BusyProcess, MonitorSample, ProcessName, ProcessShare } from "./monitorSample";
import { append } from "../lists";

export interface ProcessUse extends ProcessName {
  readonly parent: number;
  /** CPU seconds since it started. */
  readonly cpuSeconds: number;
  /** CPU seconds of its children that have ended, where the platform counts them. */
  readonly endedChildrenSeconds?: number;
}

/** What a platform tells about itself at one moment; counters only grow. */
export interface SystemSnapshot {
  /** Seconds, by a clock that goes on during sleep. */
  readonly at: number;
  readonly processes: readonly ProcessUse[];
  /** CPU seconds of everything, dead processes too, where the platform counts them. */
  readonly busySeconds?: number;
  /** CPU seconds the host took away from this virtual machine. */
  readonly stolenSeconds?: number;
  readonly foreignGpu?: number;
  readonly gpuBusiest?: readonly ProcessShare[];
  readonly freeMemoryBytes?: number;
  readonly swappedInBytes?: number;
  readonly clockMhz?: number;
  readonly throttles?: number;
  readonly onBattery?: boolean;
}

const llamaProgram = /^llama(-|_|\.|$)|^(main|server)$|^ollama|^koboldcpp/;

/** What happened between two snapshots, as the watch records it. `measured` stand for themselves and their children. */
export function sampleBetween(
  before: SystemSnapshot,
  after: SystemSnapshot,
  {
    measured,
    own,
    logicalCpus,
    start,
  }: {
    readonly measured: readonly number[];
    /** This process: part of the measurement. What else it started, such as an editor's language servers, is not. */
    readonly own: number;
    readonly logicalCpus: number;
    readonly start: number;
  },
): MonitorSample {
  const ours = new Set([...withChildren(after.processes, measured), own]);
  const elapsed = Math.max(1e-3, after.at - before.at) * logicalCpus;
  const earlier = new Map(before.processes.map((p) => [p.pid, p]));
  const used = (p: ProcessUse): number => Math.max(0, p.cpuSeconds - (earlier.get(p.pid)?.cpuSeconds ?? 0));
  let ourSeconds = endedChildren(before, after, [...measured, own]);
  let seenSeconds = 0;
  const foreign: BusyProcess[] = [];
  for (const process of after.processes) {
    const seconds = used(process);
    if (ours.has(process.pid)) ourSeconds += seconds;
    else if (seconds > 0) {
      seenSeconds += seconds;
      foreign.push({ pid: process.pid, name: process.name, cpu: seconds / elapsed });
    }
  }
  const stolen = difference(before.stolenSeconds, after.stolenSeconds) ?? 0;
  const busy = difference(before.busySeconds, after.busySeconds);
  const others = Math.max(seenSeconds, busy === undefined ? 0 : busy - ourSeconds);
  let gone = others - seenSeconds;
  for (const { parent, seconds } of parentsOfTheGone(before, after, ours)) {
    const part = Math.min(gone, seconds);
    if (part <= 0) break;
    foreign.push({ pid: parent.pid, name: `children of ${parent.name}`, cpu: part / elapsed });
    gone -= part;
  }
  if (gone > 0) foreign.push({ pid: 0, name: "short-lived processes", cpu: gone / elapsed });
  if (stolen > 0) foreign.push({ pid: 0, name: "other guests of the host", cpu: stolen / elapsed });
  const swapped = difference(before.swappedInBytes, after.swappedInBytes);
  const throttles = difference(before.throttles, after.throttles);
  return {
    at: after.at - start,
    foreignCpu: Math.min(1, (others + stolen) / elapsed),
    busiest: foreign.sort((p, q) => q.cpu - p.cpu).slice(0, 5),
    otherLlama: after.processes
      .filter((p) => llamaProgram.test(p.name) && !ours.has(p.pid))
      .map(({ pid, name }) => ({ pid, name })),
    ...(after.foreignGpu !== undefined && { foreignGpu: after.foreignGpu }),
    ...(after.gpuBusiest !== undefined && { gpuBusiest: after.gpuBusiest }),
    ...(after.freeMemoryBytes !== undefined && { freeMemoryBytes: after.freeMemoryBytes }),
    ...(swapped !== undefined && { swappedInBytes: swapped }),
    ...(after.clockMhz !== undefined && { clockMhz: after.clockMhz }),
    ...(throttles !== undefined && { throttled: throttles > 0 }),
    ...(after.onBattery !== undefined && { onBattery: after.onBattery }),
  };
}

/** CPU seconds that children of these processes used since `before` and took with them when they ended. */
function endedChildren(before: SystemSnapshot, after: SystemSnapshot, parents: readonly number[]): number {
  const family = withChildren(before.processes, parents);
  const alive = new Set(after.processes.map((p) => p.pid));
  const known = before.processes
    .filter((p) => family.has(p.pid) && !alive.has(p.pid))
    .reduce((s, p) => s + p.cpuSeconds + (p.endedChildrenSeconds ?? 0), 0);
  const earlier = new Map(before.processes.map((p) => [p.pid, p.endedChildrenSeconds]));
  const grown = after.processes
    .filter((p) => family.has(p.pid))
    .reduce((s, p) => s + (difference(earlier.get(p.pid), p.endedChildrenSeconds) ?? 0), 0);
  return Math.max(0, grown - known);
}

/** Who started what ended in between, most CPU first. */
function parentsOfTheGone(
  before: SystemSnapshot,
  after: SystemSnapshot,
  ours: ReadonlySet<number>,
): readonly { readonly parent: ProcessUse; readonly seconds: number }[] {
  const earlier = new Map(before.processes.map((p) => [p.pid, p.endedChildrenSeconds]));
  return after.processes
    .filter((parent) => !ours.has(parent.pid))
    .map((parent) => ({
      parent,
      seconds: difference(earlier.get(parent.pid), parent.endedChildrenSeconds) ?? 0,
    }))
    .filter(({ seconds }) => seconds > 0)
    .sort((p, q) => q.seconds - p.seconds);
}

function withChildren(processes: readonly ProcessUse[], roots: readonly number[]): ReadonlySet<number> {
  const children = new Map<number, number[]>();
  for (const { pid, parent } of processes) children.set(parent, [...(children.get(parent) ?? []), pid]);
  const all = new Set<number>();
  const open = [...roots];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    if (all.has(pid)) continue;
    all.add(pid);
    append(open, children.get(pid) ?? []);
  }
  return all;
}

function difference(before: number | undefined, after: number | undefined): number | undefined {
  return before === undefined || after === undefined ? undefined : Math.max(0, after - before);
}
