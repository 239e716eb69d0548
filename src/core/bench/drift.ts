/** What happened to the machine between two runs of the same thing. */
export type Drift =
  /** Within what repeats differ by anyway. */
  | { readonly kind: "stable"; readonly change: number }
  /** Moved, but little enough to correct for; half of it goes into the error. */
  | { readonly kind: "drift"; readonly change: number }
  /** Moved too far for a comparison between the two. */
  | { readonly kind: "invalid"; readonly change: number };

export type SpeedKind = "prefill" | "generation";

/** Largest change between the outer arms of a sandwich that counts as none (seen on good machines: 0.8 % and 2.3 %). */
export const stableChange: Readonly<Record<SpeedKind, number>> = { prefill: 0.02, generation: 0.03 };
export const invalidChange = 0.06;

/** Judges two measurements of the same arm, seconds or speeds, first and last. */
export function judgeDrift(first: number, last: number, kind: SpeedKind): Drift {
  const change = last / first - 1;
  const size = Math.abs(change);
  if (!Number.isFinite(change) || size > invalidChange) return { kind: "invalid", change };
  return { kind: size <= stableChange[kind] ? "stable" : "drift", change };
}
