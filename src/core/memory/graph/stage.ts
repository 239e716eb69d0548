import type { Layer } from "../../model/model";
import type { Backend } from "../devices/memoryDevice";

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
  /** Whose flash attention: some keep scratch space behind its output. */
  readonly flashScratch: Backend;
  /** Bytes of the matrices that lie on the host and are fetched for each product, by name without `.weight`. */
  readonly hostMatrices?: ReadonlyMap<string, number>;
  /** Experts whose matrices lie on the host and that another backend works on; bytes by name, as above. */
  readonly expertsElsewhere?: ReadonlyMap<string, number>;
  /** The layer's cache is on the host. */
  readonly hostCache?: (layer: Layer) => boolean;
}
