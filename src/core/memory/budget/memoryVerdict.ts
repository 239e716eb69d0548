import { bytes, say } from "../../text";
import type { ByteInterval, DeviceBudget, MemoryReport, MemoryVerdict } from "./memoryReport";

/**
 * Asymmetric by design: "fits" needs the whole interval and the margin to be free, "exceeds" needs even its low end not to
 * be; everything between is tight.
 */
export function deviceVerdict(
  need: ByteInterval,
  extraBytes: number,
  freeBytes: number,
  marginBytes: number,
): { readonly marginBytes: number; readonly verdict: MemoryVerdict } {
  const high = need.highBytes + extraBytes;
  if (high === 0) return { marginBytes, verdict: "fits" };
  const verdict =
    high + marginBytes <= freeBytes ? "fits" : need.lowBytes + extraBytes > freeBytes ? "exceeds" : "tight";
  return { marginBytes, verdict };
}

const rank: Record<MemoryVerdict, number> = { exceeds: 3, tight: 2, fits: 1, unknown: 0 };

/** The worst device decides; among equals the one with the least left. */
export function overallVerdict(budgets: readonly DeviceBudget[]): Pick<MemoryReport, "verdict" | "tightest"> {
  let worst: (DeviceBudget & { readonly freeBytes: number; readonly verdict: MemoryVerdict }) | undefined;
  for (const budget of budgets) {
    const { freeBytes, verdict } = budget;
    if (freeBytes === undefined || verdict === undefined || budget.totalBytes === 0) continue;
    const left = freeBytes - budget.totalBytes;
    const before = worst === undefined ? -1 : rank[worst.verdict];
    const same = worst !== undefined && before === rank[verdict] && left < worst.freeBytes - worst.totalBytes;
    if (rank[verdict] > before || same) worst = { ...budget, freeBytes, verdict };
  }
  if (worst === undefined) return { verdict: "unknown" };
  const short = worst.totalBytes - worst.freeBytes;
  const text =
    short > 0
      ? say`${worst.name} lacks ${bytes(short)}.`
      : say`${worst.name} is the tightest device: ${bytes(-short)} of ${bytes(worst.freeBytes)} remains free.`;
  return { verdict: worst.verdict, tightest: { device: worst.name, shortBytes: Math.max(0, short), text } };
}
