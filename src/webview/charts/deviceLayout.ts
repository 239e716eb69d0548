import { scaleLinear } from "d3-scale";
import type { DeviceBudget } from "../../core/memory/budget/memoryReport";
import { say, type Text } from "../../core/text";
import { largest } from "../../core/lists";

export interface DeviceLayout {
  readonly device: DeviceBudget;
  readonly parts: readonly LaidPart[];
  /** Where what is free ends; undefined where it is not known. */
  readonly freeX: number | undefined;
  /** What is to stay free, in front of that end. */
  readonly margin: Stretch | undefined;
  /** What other programs hold, behind it; undefined where the size of the device is not known. */
  readonly others: Stretch | undefined;
  /** Where the interval of the total begins and ends; undefined where it is exact. */
  readonly interval: readonly [lowX: number, highX: number] | undefined;
}

export interface Stretch {
  readonly x: number;
  readonly width: number;
}

export type LaidPart = Stretch & { readonly kind: DevicePart };

export const deviceParts = ["weights", "kv", "state", "compute", "other"] as const;

export type DevicePart = (typeof deviceParts)[number];

export const devicePartNames: Record<DevicePart, Text> = {
  weights: say`weights`,
  kv: say`KV cache`,
  state: say`recurrent state`,
  compute: say`compute buffers`,
  other: say`draft context and projector`,
};

/** Bytes of each part of a device's total. */
export function devicePartBytes(device: DeviceBudget): Readonly<Record<DevicePart, number>> {
  const { parts } = device;
  return {
    weights: device.modelBytes,
    kv: parts?.kv ?? device.contextBytes,
    state: parts?.recurrent ?? 0,
    compute: device.computeBytes,
    other: parts?.other ?? 0,
  };
}

/** What others hold of a device; undefined where nobody knows. */
export function othersBytes({ freeBytes, deviceBytes }: DeviceBudget): number | undefined {
  return freeBytes === undefined || deviceBytes === undefined
    ? undefined
    : Math.max(0, deviceBytes - freeBytes);
}

/** All devices on one scale, so that bars can be compared. */
export function deviceLayout(devices: readonly DeviceBudget[], width: number): readonly DeviceLayout[] {
  const sizeOf = ({ totalBytes, freeBytes = 0, deviceBytes = 0 }: DeviceBudget): number =>
    Math.max(totalBytes, freeBytes, deviceBytes);
  const x = scaleLinear([0, largest(devices.map(sizeOf), 1)], [0, width]);
  return devices.map((device): DeviceLayout => {
    const { freeBytes, marginBytes, interval } = device;
    let start = 0;
    const bytes = devicePartBytes(device);
    const parts = deviceParts.flatMap((kind) => {
      if (bytes[kind] <= 0) return [];
      const part = { kind, x: x(start), width: x(bytes[kind]) };
      start += bytes[kind];
      return [part];
    });
    const others = othersBytes(device);
    const margin = Math.min(marginBytes ?? 0, freeBytes ?? 0);
    return {
      device,
      parts,
      freeX: freeBytes === undefined ? undefined : x(freeBytes),
      margin:
        freeBytes === undefined || margin === 0 ? undefined : { x: x(freeBytes - margin), width: x(margin) },
      others:
        freeBytes === undefined || others === undefined || others === 0
          ? undefined
          : { x: x(freeBytes), width: x(others) },
      interval:
        interval === undefined || interval.highBytes - interval.lowBytes <= 0
          ? undefined
          : [x(interval.lowBytes), x(interval.highBytes)],
    };
  });
}
