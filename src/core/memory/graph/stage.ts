import type { Layer } from "../../model/model";

/** The part of a model's graph one device works on. */
export interface Stage {
  readonly layers: readonly Layer[];
  /**
   * tokens: the embeddings are looked up here; copied: they come from the host; normed: hidden state and its norm come from
   * another device; sum: the two operands of the sum that ends the layer before; hidden: the last layer's rows that are
   * asked for.
   */
  readonly start: "tokens" | "copied" | "normed" | "sum" | "hidden";
  /** handover: the norm for the next device's first layer is the last step. */
  readonly end: "logits" | "handover" | "nothing";
  /** Copies of everything that comes in, for pipeline parallelism; more than one are never freed. */
  readonly copies: number;
  /** Flash attention on CUDA keeps f16 copies of a quantised layer's K and V behind its output. */
  readonly staging: boolean;
}
