import type { Text } from "../text";
import type { Provenance } from "../provenance";

export interface KvCacheReport {
  /** Which cache: "full" attention, sliding window, MLA latent, indexer, MTP, … */
  readonly cache: string;
  readonly layers: number;
  /** Cells of one stream times streams. */
  readonly cells: number;
  readonly typeK: string;
  readonly typeV: string;
  readonly bytes: number;
}

export interface DeviceBudget {
  readonly name: string;
  readonly modelBytes: number;
  /** KV cache and recurrent state. */
  readonly contextBytes: number;
  readonly computeBytes: number;
  readonly totalBytes: number;
  readonly freeBytes?: number;
}

export type MemoryVerdict = "fits" | "tight" | "exceeds" | "unknown";

export interface MemoryWarning {
  readonly code: string;
  readonly message: Text;
}

/** What a model needs with these launch options; sizes in bytes. */
export interface MemoryReport {
  readonly source: Provenance;
  readonly context: {
    readonly nCtx: number;
    readonly nCtxPerSlot: number;
    readonly slots: number;
    readonly unified: boolean;
  };
  readonly kv: readonly KvCacheReport[];
  readonly recurrentBytes: number;
  readonly devices: readonly DeviceBudget[];
  readonly totalBytes: number;
  readonly interval: { readonly lowBytes: number; readonly highBytes: number };
  /** Growth of the whole per token of context. */
  readonly bytesPerToken: number;
  readonly verdict: MemoryVerdict;
  readonly warnings: readonly MemoryWarning[];
}
