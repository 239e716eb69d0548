import { median } from "../median";
import { percent, say, seconds } from "../text";
import type { Text } from "../text";
import type { MonitorEvent, MonitorReport, MonitorSample } from "./monitorSample";
import { smallest } from "../lists";
import { foreignUse } from "./foreignUse";

export interface WatchRules {
  /** Samples at the beginning that were taken before the measurement. */
  readonly baselineSamples: number;
  /** Whether the model computes on the CPU, where others disturb it sooner. */
  readonly usesCpu: boolean;
  /** Seconds between two samples as planned; a much longer gap is sleep. */
  readonly intervalSeconds: number;
}

/** Above this share of the machine before the run, others were already at work. */
const busyBefore = 0.15;
const gpuBusyBefore = 0.1;
const slowClock = 0.9;
/** A shorter run has no room for two samples in a row: there, one is enough. */
const shortRun = 5;

/**
 * What the watch says about a measurement. *Contaminated*: somebody else took CPU, GPU or memory. *Drift*: the machine
 * itself changed. *Unmonitored* is not clean: nobody looked.
 */
export function judgeSamples(samples: readonly MonitorSample[], rules: WatchRules): MonitorReport {
  const before = samples.slice(0, rules.baselineSamples);
  const during = samples.slice(rules.baselineSamples);
  const foreign = numbers(before, (s) => s.foreignCpu);
  const watched = during.filter((s) => s.foreignCpu !== undefined).length;
  const foreignCpuBefore = foreign.length > 0 ? median(foreign) : undefined;
  const [cpu, gpu] = [foreignUse(during, "cpu"), foreignUse(during, "gpu")];
  const known = {
    samples: samples.length,
    ...(foreignCpuBefore !== undefined && { foreignCpuBefore }),
    ...(cpu !== undefined && { cpu }),
    ...(gpu !== undefined && { gpu }),
  };
  if (watched === 0) return { verdict: "unmonitored", events: [], ...known };
  const taken = [
    ...foreignCpu(during, Math.min(foreignCpuBefore ?? 0, busyBefore), rules),
    ...foreignGpu(during, before),
    ...otherLlama(during, before),
    ...swapping(during),
  ];
  const changed = [...slept(samples, rules), ...throttled(during), ...powerChanged(during)];
  const events = [...taken, ...changed].sort((p, q) => p.fromSeconds - q.fromSeconds);
  const verdict = taken.length > 0 ? "contaminated" : changed.length > 0 ? "drift" : "clean";
  return { verdict, events, ...known };
}

/** Samples in a row that are no spike. */
const inARow = (during: readonly MonitorSample[]): number => (during.length < shortRun ? 1 : 2);

/** Two samples in a row above what others used before (and at most 15 %) by 10 points, 5 where the model needs the CPU. */
function foreignCpu(
  during: readonly MonitorSample[],
  baseline: number,
  { usesCpu }: WatchRules,
): readonly MonitorEvent[] {
  const limit = baseline + (usesCpu ? 0.05 : 0.1);
  return runs(during, (s) => (s.foreignCpu ?? 0) > limit, inARow(during)).map((run) => {
    const total = new Map<number, { pid: number; name: string; cpu: number }>();
    for (const { busiest = [] } of run) {
      for (const { pid, name, cpu } of busiest) {
        const sum = total.get(pid)?.cpu ?? 0;
        total.set(pid, { pid, name, cpu: sum + cpu / run.length });
      }
    }
    const who = [...total.values()].sort((p, q) => q.cpu - p.cpu).slice(0, 3);
    const worth = who.filter((p) => p.cpu >= 0.01);
    return {
      kind: "foreignCpu",
      who: worth.length > 0 ? worth : who.slice(0, 1),
      share: run.reduce((s, r) => s + (r.foreignCpu ?? 0), 0) / run.length,
      ...when(run),
    };
  });
}

function foreignGpu(
  during: readonly MonitorSample[],
  before: readonly MonitorSample[],
): readonly MonitorEvent[] {
  const baseline = Math.min(median(numbers(before, (s) => s.foreignGpu)), gpuBusyBefore);
  return runs(during, (s) => (s.foreignGpu ?? 0) > baseline + 0.05, inARow(during)).map((run) => ({
    kind: "foreignGpu",
    share: run.reduce((s, r) => s + (r.foreignGpu ?? 0), 0) / run.length,
    ...when(run),
  }));
}

/** llama.cpp programs that appeared during the run; one that was there before and sleeps is no event. */
function otherLlama(
  during: readonly MonitorSample[],
  before: readonly MonitorSample[],
): readonly MonitorEvent[] {
  const known = new Set(before.flatMap((s) => s.otherLlama ?? []).map((p) => p.pid));
  const isNew = (s: MonitorSample): boolean => (s.otherLlama ?? []).some((p) => !known.has(p.pid));
  return runs(during, isNew, 1).map((run) => {
    const who = new Map(run.flatMap((s) => s.otherLlama ?? []).map((p) => [p.pid, p]));
    return { kind: "otherLlama", who: [...who.values()].filter((p) => !known.has(p.pid)), ...when(run) };
  });
}

function swapping(during: readonly MonitorSample[]): readonly MonitorEvent[] {
  return runs(during, (s) => (s.swappedInBytes ?? 0) > 1024 * 1024, 1).map((run) => ({
    kind: "swapping",
    bytes: run.reduce((s, r) => s + (r.swappedInBytes ?? 0), 0),
    ...when(run),
  }));
}

function throttled(during: readonly MonitorSample[]): readonly MonitorEvent[] {
  const usual = median(numbers(during, (s) => s.clockMhz));
  const share = (s: MonitorSample): number =>
    s.clockMhz === undefined || usual === 0 ? 1 : s.clockMhz / usual;
  return runs(during, (s) => s.throttled === true || share(s) < slowClock, 2).map((run) => ({
    kind: "throttled",
    clockShare: smallest(run.map(share)),
    ...when(run),
  }));
}

function powerChanged(during: readonly MonitorSample[]): readonly MonitorEvent[] {
  return during.flatMap((s, i) => {
    const previous = during[i - 1]?.onBattery;
    return previous !== undefined && s.onBattery !== undefined && previous !== s.onBattery
      ? [{ kind: "powerChanged" as const, onBattery: s.onBattery, fromSeconds: s.at, toSeconds: s.at }]
      : [];
  });
}

/** Gaps much longer than the interval: the machine slept, or was so busy that nobody could look. */
function slept(samples: readonly MonitorSample[], { intervalSeconds }: WatchRules): readonly MonitorEvent[] {
  return samples.flatMap((s, i) => {
    const previous = samples[i - 1]?.at ?? s.at;
    const gap = s.at - previous;
    return gap > Math.max(5 * intervalSeconds, intervalSeconds + 10) || gap < 0
      ? [{ kind: "slept" as const, seconds: gap - intervalSeconds, fromSeconds: previous, toSeconds: s.at }]
      : [];
  });
}

/** Stretches of at least `least` samples in a row. */
function runs(
  samples: readonly MonitorSample[],
  matches: (sample: MonitorSample) => boolean,
  least: number,
): readonly (readonly MonitorSample[])[] {
  const found: MonitorSample[][] = [];
  let run: MonitorSample[] = [];
  for (const sample of [...samples, undefined]) {
    if (sample !== undefined && matches(sample)) run.push(sample);
    else {
      if (run.length >= least) found.push(run);
      run = [];
    }
  }
  return found;
}

function when(run: readonly MonitorSample[]): { readonly fromSeconds: number; readonly toSeconds: number } {
  return { fromSeconds: run[0]?.at ?? 0, toSeconds: run.at(-1)?.at ?? 0 };
}

function numbers(
  samples: readonly MonitorSample[],
  of: (sample: MonitorSample) => number | undefined,
): readonly number[] {
  return samples.map(of).filter((value) => value !== undefined);
}

/** An event in words: who, when, how much. */
export function eventText(event: MonitorEvent): Text {
  const from = seconds(event.fromSeconds);
  switch (event.kind) {
    case "foreignCpu":
      return say`${event.who.map((p) => `${p.name} (${p.pid})`).join(", ")} and others used ${percent(100 * event.share)} of the CPU from ${from} to ${seconds(event.toSeconds)}`;
    case "foreignGpu":
      return say`Other programs used ${percent(100 * event.share)} of the GPU from ${from} to ${seconds(event.toSeconds)}`;
    case "otherLlama":
      return say`${event.who.map((p) => `${p.name} (${p.pid})`).join(", ")} appeared at ${from}`;
    case "swapping":
      return say`Memory was read back from swap from ${from} to ${seconds(event.toSeconds)}`;
    case "throttled":
      return say`The clock dropped to ${percent(100 * event.clockShare)} of its usual rate at ${from}`;
    case "powerChanged":
      return event.onBattery
        ? say`The machine switched to battery at ${from}`
        : say`The machine switched to mains power at ${from}`;
    case "slept":
      return say`Nothing ran for ${seconds(event.seconds)} at ${from}: the machine slept or its clock jumped`;
  }
}
