/** What the watch saw at one moment. Shares are of the whole machine, 0 to 1. */
export interface MonitorSample {
  /** Seconds since the watch began, by a clock that goes on during sleep. */
  readonly at: number;
  /** CPU of all processes that are neither measured nor ours, since the sample before. */
  readonly foreignCpu?: number;
  /** The busiest of them. */
  readonly busiest?: readonly BusyProcess[];
  /** llama.cpp's programs that run, without the measured one. */
  readonly otherLlama?: readonly ProcessName[];
  /** GPU of everything but the measured process, where the platform tells. */
  readonly foreignGpu?: number;
  /** Who that was, where the platform tells. */
  readonly gpuBusiest?: readonly ProcessShare[];
  readonly freeMemoryBytes?: number;
  /** Bytes read back from swap since the sample before. */
  readonly swappedInBytes?: number;
  readonly clockMhz?: number;
  readonly throttled?: boolean;
  readonly onBattery?: boolean;
}

export interface ProcessName {
  readonly pid: number;
  readonly name: string;
}

export interface BusyProcess extends ProcessName {
  readonly cpu: number;
}

/** A process and its share of a device, 0 to 1. */
export interface ProcessShare extends ProcessName {
  readonly share: number;
}

/** What others used of a device while something was measured: shares of the whole, 0 to 1. */
export interface ForeignUse {
  readonly median: number;
  readonly max: number;
  /** Those who used most of it, on average. */
  readonly who: readonly ProcessShare[];
}

export type MonitorEvent =
  | ({ readonly kind: "foreignCpu"; readonly who: readonly BusyProcess[]; readonly share: number } & When)
  | ({ readonly kind: "foreignGpu"; readonly share: number } & When)
  | ({ readonly kind: "otherLlama"; readonly who: readonly ProcessName[] } & When)
  | ({ readonly kind: "swapping"; readonly bytes: number } & When)
  | ({ readonly kind: "throttled"; readonly clockShare: number } & When)
  | ({ readonly kind: "powerChanged"; readonly onBattery: boolean } & When)
  | ({ readonly kind: "slept"; readonly seconds: number } & When);

interface When {
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

export type MonitorVerdict = "clean" | "drift" | "contaminated" | "unmonitored";

export interface MonitorReport {
  readonly verdict: MonitorVerdict;
  readonly events: readonly MonitorEvent[];
  /** Median share of the machine others used before the measurement began. */
  readonly foreignCpuBefore?: number;
  /** Of all processors together. */
  readonly cpu?: ForeignUse;
  /** Of the busiest GPU, where the platform tells. */
  readonly gpu?: ForeignUse;
  readonly samples: number;
}
