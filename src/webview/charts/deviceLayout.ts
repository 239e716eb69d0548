import { scaleLinear } from "d3-scale";
import type { DeviceBudget } from "../../core/memory/memoryReport";
import { say, type Text } from "../../core/text";

export interface DeviceLayout {
  readonly device: DeviceBudget;
  readonly parts: readonly { readonly kind: DevicePart; readonly x: number; readonly width: number }[];
  /** Where what is free ends; undefined where it is not known. */
  readonly freeX: number | undefined;
}

export type DevicePart = "weights" | "kv" | "compute";

export const devicePartNames: Record<DevicePart, Text> = {
  weights: say`weights`,
  kv: say`KV cache and state`,
  compute: say`compute buffers`,
};

/** All devices on one scale, so that bars can be compared. */
export function deviceLayout(devices: readonly DeviceBudget[], width: number): readonly DeviceLayout[] {
  const largest = Math.max(1, ...devices.map((device) => Math.max(device.totalBytes, device.freeBytes ?? 0)));
  const x = scaleLinear([0, largest], [0, width]);
  return devices.map((device) => {
    let start = 0;
    const parts = (
      [
        ["weights", device.modelBytes],
        ["kv", device.contextBytes],
        ["compute", device.computeBytes],
      ] as const
    ).map(([kind, size]) => {
      const part = { kind, x: x(start), width: x(size) };
      start += size;
      return part;
    });
    return { device, parts, freeX: device.freeBytes === undefined ? undefined : x(device.freeBytes) };
  });
}
