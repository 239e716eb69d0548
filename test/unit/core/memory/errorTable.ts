import { breakdown, type Breakdown } from "../../../../src/core/memory/budget/breakdown";
import type { TruthRow } from "./fixtures";

/** One buffer's compute bytes, computed and real. */
export interface Comparison {
  readonly row: TruthRow;
  readonly group: string;
  readonly device: string;
  readonly ours: number;
  readonly low: number;
  readonly high: number;
  readonly real: number;
}

/** How the work is divided, as far as buffers differ by it. */
export function groupOf({ placed, plan }: Breakdown): string {
  const devices = placed.devices.length;
  if (devices === 0) return plan.flashAttention ? "CPU" : "CPU, no flash attention";
  const count = devices === 1 ? "one device" : "two devices";
  if (placed.overridden) return `${count}, experts on the host`;
  if (!plan.kvOffload) return `${count}, cache on the host`;
  return placed.fullyOffloaded ? count : `${count}, layers on the host`;
}

export function comparisons(rows: readonly TruthRow[]): readonly Comparison[] {
  return rows.flatMap((row) => {
    const parts = breakdown(row.model, row.options, row.devices, { caller: row.caller });
    const group = groupOf(parts);
    return parts.rows.map(({ name, compute }): Comparison => {
      const real = row.buffers.get(name)?.[2] ?? 0;
      return { row, group, device: name, ours: compute.bytes, low: compute.low, high: compute.high, real };
    });
  });
}

export interface Errors {
  readonly count: number;
  readonly median: number;
  readonly p90: number;
  readonly p95: number;
  readonly largest: number;
  /** Share within 5 %. */
  readonly near: number;
}

/** Of relative errors, whatever their sign. */
export function errorsOf(errors: readonly number[]): Errors {
  const sizes = errors.map(Math.abs).sort((a, b) => a - b);
  const at = (share: number): number =>
    sizes[Math.min(sizes.length - 1, Math.floor(sizes.length * share))] ?? 0;
  return {
    count: sizes.length,
    median: at(0.5),
    p90: at(0.9),
    p95: at(0.95),
    largest: sizes.at(-1) ?? 0,
    near: sizes.filter((size) => size <= 0.05).length / Math.max(1, sizes.length),
  };
}

/** Error of a buffer, as a share of it; nothing needed and nothing said is no error. */
export const relative = (ours: number, real: number): number =>
  ours === real ? 0 : (ours - real) / Math.max(real, 1);

export const percent = (share: number): string => `${(100 * share).toFixed(share < 0.1 ? 3 : 1)} %`;

export function printed(title: string, groups: ReadonlyMap<string, readonly number[]>): string {
  const lines = [...groups]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, errors]) => {
      const { count, median, p90, largest, near } = errorsOf(errors);
      const cells = [String(count), percent(median), percent(p90), percent(largest), percent(near)];
      return name.padEnd(36) + cells.map((cell) => cell.padStart(12)).join("");
    });
  const head = ["buffers", "median", "p90", "largest", "within 5 %"]
    .map((cell) => cell.padStart(12))
    .join("");
  return [title.padEnd(36) + head, ...lines].join("\n");
}

/** Items by a name, each as a number. */
export function grouped<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  valueOf: (item: T) => number,
): ReadonlyMap<string, readonly number[]> {
  const groups = new Map<string, number[]>();
  for (const item of items) {
    const group = groups.get(nameOf(item)) ?? [];
    groups.set(nameOf(item), group);
    group.push(valueOf(item));
  }
  return groups;
}
