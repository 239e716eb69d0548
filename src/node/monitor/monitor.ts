import { existsSync } from "node:fs";
import os from "node:os";
import { judgeSamples } from "../../core/monitor/interference";
import type { MonitorReport, MonitorSample } from "../../core/monitor/monitorSample";
import { sampleBetween } from "../../core/monitor/systemSnapshot";
import type { SystemSnapshot } from "../../core/monitor/systemSnapshot";
import { LinuxSystem } from "./monitorLinux";
import { NvidiaUse } from "./monitorNvidia";
import { psSnapshot } from "./monitorPs";
import { WindowsSystem } from "./monitorWindows";

export interface MonitorOptions {
  /** Seconds between two looks. */
  readonly intervalSeconds?: number;
  /** Whether the measured model computes on the CPU. */
  readonly usesCpu?: boolean;
  /** Called with every sample. */
  readonly onSample?: (sample: MonitorSample) => void;
  /** What is looked at; by default this machine. */
  readonly system?: PlatformSystem;
}

/** A watch over the machine. It never fails a measurement: what it cannot see makes the verdict "unmonitored". */
export interface Monitor {
  /** Processes that are measured, with their children; may be told late. */
  measure(pid: number): void;
  /** Waits for samples of the machine before the measurement begins. */
  baseline(samples: number, signal: AbortSignal): Promise<void>;
  readonly freeMemoryBytes: number | undefined;
  stop(): Promise<MonitorReport>;
}

export function startMonitor(options: MonitorOptions = {}): Monitor {
  const interval = options.intervalSeconds ?? 2;
  const stopped = new AbortController();
  const measured: number[] = [];
  const samples: MonitorSample[] = [];
  const system = options.system ?? systemOf(measured, interval);
  let baselineSamples = 0;
  let onSample: () => void = () => undefined;
  let last: SystemSnapshot | undefined;
  let start = 0;

  const look = async (): Promise<void> => {
    const snapshot = await system.snapshot(stopped.signal);
    if (last === undefined) start = snapshot.at;
    else if (snapshot.processes.length > 0) {
      const sample = sampleBetween(last, snapshot, {
        measured,
        own: process.pid,
        logicalCpus: os.availableParallelism(),
        start,
      });
      samples.push(sample);
      options.onSample?.(sample);
    }
    last = snapshot;
    onSample();
  };
  const loop = (async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await look();
      await pause(interval, stopped.signal);
    }
  })().catch(() => undefined);

  return {
    measure: (pid) => void measured.push(pid),
    baseline: (wanted, signal) =>
      new Promise((resolve, reject) => {
        let waiting = true;
        const end = (): void => {
          if (!waiting) return;
          waiting = false;
          baselineSamples = samples.length;
          onSample = () => undefined;
          signal.removeEventListener("abort", abort);
        };
        const abort = (): void => {
          end();
          reject(signal.reason as Error);
        };
        if (signal.aborted) {
          abort();
          return;
        }
        signal.addEventListener("abort", abort);
        onSample = () => {
          if (samples.length < wanted) return;
          end();
          resolve();
        };
        loop
          .finally(() => {
            end();
            resolve();
          })
          .catch(() => undefined);
      }),
    get freeMemoryBytes() {
      return last?.freeMemoryBytes;
    },
    stop: async () => {
      if (!stopped.signal.aborted) {
        // a last look, so that a short measurement is not between two samples
        await look().catch(() => undefined);
        stopped.abort();
      }
      await loop;
      system.close();
      return judgeSamples(samples, {
        baselineSamples,
        usesCpu: options.usesCpu ?? true,
        intervalSeconds: interval,
      });
    },
  };
}

/** What tells about a machine, each time it is asked. */
export interface PlatformSystem {
  snapshot(signal: AbortSignal): Promise<SystemSnapshot>;
  close(): void;
}

function systemOf(measured: readonly number[], interval: number): PlatformSystem {
  switch (process.platform) {
    case "linux": {
      const linux = new LinuxSystem();
      const nvidia = existsSync("/dev/nvidiactl") ? new NvidiaUse(interval) : undefined;
      return {
        snapshot: () => {
          return Promise.resolve({ ...linux.snapshot(), ...nvidia?.foreign(measured) });
        },
        close: () => nvidia?.close(),
      };
    }
    case "darwin":
      return { snapshot: psSnapshot, close: () => undefined };
    case "win32": {
      const windows = new WindowsSystem();
      return { snapshot: () => windows.snapshot(measured), close: () => windows.close() };
    }
    default:
      return {
        snapshot: () => Promise.resolve({ at: Date.now() / 1000, processes: [] }),
        close: () => undefined,
      };
  }
}

function pause(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, seconds * 1000);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}
