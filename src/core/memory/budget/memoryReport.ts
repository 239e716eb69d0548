import type { Text } from "../../text";
import type { Provenance } from "../../provenance";

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
  /** All of the device's memory, free or not. */
  readonly deviceBytes?: number;
  readonly parts?: DeviceParts;
  readonly interval?: ByteInterval;
  /** Bytes kept free, by `-fitt` or the user's setting. */
  readonly marginBytes?: number;
  /** Absent where nobody knows what is free. */
  readonly verdict?: MemoryVerdict;
}

export interface ByteInterval {
  readonly lowBytes: number;
  readonly highBytes: number;
}

/** What a device's total is made of; bytes. */
export interface DeviceParts {
  readonly weights: number;
  readonly kv: number;
  readonly recurrent: number;
  readonly compute: number;
  /** Draft and MTP contexts, multimodal projector. */
  readonly other: number;
}

/** Host memory that llama.cpp's own accounting leaves out. */
export interface HostExtra {
  readonly kind: "output" | "promptCache" | "checkpoints";
  readonly bytes: number;
  /** atLoad: allocated at once; upTo: filled while requests come. */
  readonly when: "atLoad" | "upTo";
  readonly text: Text;
}

/** Why the cache grows as it does; the parts add up to `bytesPerToken`. */
export interface MemoryExplanation {
  readonly layersWithKv: number;
  readonly layers: number;
  readonly growth: readonly GrowthPart[];
  readonly lines: readonly Text[];
}

export interface GrowthPart {
  /** staging: the f16 copies that CUDA's flash attention makes of a cache in another type. */
  readonly kind: "kv" | "masks" | "staging" | "other";
  /** What else it is known to be: attention's scores, which are stored without flash attention. */
  readonly of?: "scores" | "compute";
  readonly bytesPerToken: number;
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
  readonly interval: ByteInterval;
  /** Growth of the whole per token of context. */
  readonly bytesPerToken: number;
  readonly verdict: MemoryVerdict;
  /** The device that decides the verdict, and what it lacks or has left in words. */
  readonly tightest?: { readonly device: string; readonly shortBytes: number; readonly text: Text };
  readonly hostExtras?: readonly HostExtra[];
  readonly explanation?: MemoryExplanation;
  readonly warnings: readonly MemoryWarning[];
  /** Our own figures, beside those llama.cpp reported. */
  readonly computed?: MemoryReport;
  /** What the running server wrote into its log when it loaded. */
  readonly logged?: readonly LoggedBudget[];
}

export type LoggedBudget = Pick<DeviceBudget, "name" | "modelBytes" | "contextBytes" | "computeBytes">;

/** A report made from the header alone: everything optional is there. */
export interface ComputedMemoryReport extends MemoryReport {
  readonly devices: readonly ComputedDeviceBudget[];
  readonly hostExtras: readonly HostExtra[];
  readonly explanation: MemoryExplanation;
}

export interface ComputedDeviceBudget extends DeviceBudget {
  readonly parts: DeviceParts;
  readonly interval: ByteInterval;
}
