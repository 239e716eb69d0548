import type { AttentionStyle } from "./attention";
import { ownValue } from "../../ownValue";

/** How an architecture's layers are put together, as far as it shows in memory (src/models/*.cpp). */
export interface LayerStyle {
  readonly attention: AttentionStyle;
  /** No norm before attention and feed-forward, but after them. */
  readonly noInputNorm?: boolean;
  /**
   * Attention and feed-forward side by side. shared: both read one norm, attention's output is projected last; first: it
   * is projected first; second: the feed-forward has a norm of its own.
   */
  readonly parallel?: "shared" | "first" | "second";
  /** Sums whose first operand is the residual: both, or only the one after the feed-forward. */
  readonly residualFirst?: "both" | "feedForward";
}

const noRope: LayerStyle = { attention: { noRope: "all" } };
const normsAfter: LayerStyle = { attention: {}, noInputNorm: true };
const sideBySide: LayerStyle = { attention: {}, parallel: "shared" };
const cohere2: LayerStyle = { attention: { noRope: "full" }, parallel: "shared" };
const gatedQuery: LayerStyle = { attention: { gate: "withQuery" } };

const styles: Readonly<Record<string, LayerStyle>> = {
  gpt2: noRope,
  bloom: noRope,
  mpt: noRope,
  starcoder: noRope,
  jais: noRope,
  refact: noRope,
  jamba: noRope,
  nemotron_h: noRope,
  nemotron_h_moe: noRope,
  olmo2: normsAfter,
  exaone4: normsAfter,
  smallthinker: { attention: { noRope: "full" } },
  afmoe: { attention: { gate: "matrix" } },
  lfm2: { attention: {}, residualFirst: "both" },
  lfm2moe: { attention: {}, residualFirst: "both" },
  phi3: { attention: {}, residualFirst: "feedForward" },
  phimoe: { attention: {}, residualFirst: "feedForward" },
  phi2: { attention: {}, parallel: "first" },
  "command-r": sideBySide,
  cohere2,
  cohere2moe: sideBySide,
  plamo: sideBySide,
  falcon: { attention: {}, parallel: "second" },
  gemma3n: { attention: { valueNorm: true } },
  gemma4: { attention: { valueNorm: true } },
  qwen35: gatedQuery,
  qwen35moe: gatedQuery,
  qwen3next: gatedQuery,
};

const plain: LayerStyle = { attention: {} };

export const styleOf = (architecture: string): LayerStyle => ownValue(styles, architecture) ?? plain;
