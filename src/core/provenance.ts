/**
 * Where a figure comes from, best first: a process or run on this machine, llama.cpp's own word, our formula from the
 * model's header, a default.
 */
export type Provenance = "measured" | "reported" | "computed" | "assumed";

const rank: Record<Provenance, number> = { measured: 3, reported: 2, computed: 1, assumed: 0 };

export interface Figure<T> {
  readonly value: T;
  readonly provenance: Provenance;
}

/** The figure with the better provenance; the newer one among equals. */
export function better<T>(older: Figure<T> | undefined, newer: Figure<T>): Figure<T> {
  return older !== undefined && rank[older.provenance] > rank[newer.provenance] ? older : newer;
}
