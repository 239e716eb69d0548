import type { Layer, Model } from "../../model/model";
import type { Backend } from "../devices/memoryDevice";
import type { ContextPlan } from "../contextPlan";
import type { Graph, Tensor } from "./graph";

/** What the parts of a model's graph share while it is built. */
export interface GraphContext {
  readonly graph: Graph;
  readonly model: Model;
  readonly plan: ContextPlan;
  readonly tokens: number;
  /** Sequences in a ubatch. */
  readonly sequences: number;
  readonly outputs: number;
  /** f32 bytes of one hidden state for each token. */
  readonly embedding: number;
  /** Whose flash attention: some keep scratch space behind its output. */
  readonly flashScratch: Backend;
  /** The header has this tensor (named without `.weight`). */
  has(tensor: string): boolean;
  hasBias(tensor: string): boolean;
  /** Size of a tensor's dimension (0: what it reads, 1: what it makes); `otherwise` where it is not in the header. */
  size(tensor: string, dimension: 0 | 1, otherwise: number): number;
  /** The product of a matrix, named without `.weight`; one that lies on the host is fetched for it first. */
  product(matrix: string, bytes: number, ...sources: readonly Tensor[]): Tensor;
  /** `tensor` times a norm's vector or with a bias, in its place: seen only where the vector is fetched from the host. */
  weighed(vector: string, tensor: Tensor): Tensor;
  /** Another backend works on this layer's experts: what they make comes in. */
  expertsElsewhere(layer: Layer): boolean;
  /** K and V of a layer, fetched from the host where the cache is there. */
  fetchedCache(layer: Layer): readonly Tensor[];
  /** An input of the graph by its name, made at its first use. */
  input(name: string, bytes: number): Tensor;
  /** Called where a layer has done its last step that llama.cpp puts into the graph at once: what comes next goes first. */
  beforeTail(): void;
}

/** f32 bytes of `values` values for each token. */
export const perToken = (context: GraphContext, values: number): number => values * 4 * context.tokens;

/** f32 bytes of `values` values for each token that `tensor` (a hidden state) still has. */
export function scaled(context: GraphContext, tensor: Tensor, values: number): number {
  const rows = context.graph.bytesOf(tensor) / (4 * context.model.embeddingLength);
  return Math.round(rows) * 4 * values;
}

export const block = (layer: Layer, name: string): string => `blk.${layer.index}.${name}`;
