/**
 * "tiny": a dozen MB, for most tests. "slope": prefill on two cores slows down visibly with depth. "roomy": a KV cache
 * of many GiB, for pictures.
 */
export type ModelSize = "tiny" | "slope" | "roomy";

export interface Dimensions {
  readonly layers: number;
  readonly embedding: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headSize: number;
  readonly feedForward: number;
}

/** Widths and head sizes are multiples of 32, the block of q8_0: every KV cache type works. */
export const dimensions: Record<ModelSize, Dimensions> = {
  tiny: { layers: 2, embedding: 64, heads: 2, kvHeads: 1, headSize: 32, feedForward: 128 },
  slope: { layers: 4, embedding: 128, heads: 8, kvHeads: 2, headSize: 64, feedForward: 256 },
  roomy: { layers: 6, embedding: 256, heads: 16, kvHeads: 16, headSize: 128, feedForward: 256 },
};
