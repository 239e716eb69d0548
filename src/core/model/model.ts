import type { Text } from "../text";
import type { Architecture } from "./architectures";
import type { TensorSizes } from "./tensorSizes";

/** attention: sees every cell; swa: sees a sliding window; recurrent: a state per sequence; none: neither. */
export type LayerKind = "attention" | "swa" | "recurrent" | "none";

/** f32 elements one sequence keeps in one recurrent layer. */
export interface StateSize {
  /** Convolution or token-shift part, `R` in llama.cpp's log. */
  readonly shift: number;
  /** `S`. */
  readonly state: number;
}

export interface Layer {
  readonly index: number;
  readonly kind: LayerKind;
  readonly heads: number;
  readonly kvHeads: number;
  /** Values per head and cell. MLA: K is the shared latent with its rope part, V is a view of it. */
  readonly keyLength: number;
  readonly valueLength: number;
  /** false where the layer reuses another layer's KV, or keeps none. */
  readonly ownsKv: boolean;
  readonly feedForward: number;
  readonly state?: StateSize;
  /** Width of the sparse-attention indexer's K row; absent without an indexer. */
  readonly indexerWidth?: number;
  /** DeepSeek V4: one compressed cell stands for so many. */
  readonly compressRatio?: number;
  /** A block for multi-token prediction: not part of the main context. */
  readonly mtp: boolean;
}

export interface MlaShape {
  readonly kvLoraRank: number;
  readonly ropeDimensions: number;
  readonly keyLength: number;
  readonly valueLength: number;
}

export interface Experts {
  readonly count: number;
  readonly used: number;
  readonly feedForward: number;
  readonly sharedFeedForward: number;
  readonly leadingDense: number;
}

export interface StateShapeKeys {
  readonly innerSize: number;
  readonly stateSize: number;
  readonly groupCount: number;
  readonly convKernel: number;
  readonly timeStepRank: number;
  readonly headSize: number;
}

export interface ModelWarning {
  readonly code:
    | "architectureUnknown"
    | "headerValueIgnored"
    | "noTensors"
    | "typeUnknown"
    | "noContextLength"
    | "fileTruncated";
  readonly message: Text;
}

/** `rope.scaling.*` of a header. */
export interface RopeScaling {
  readonly type?: string;
  /** How many times the context is extended; absent: 1. */
  readonly factor?: number;
  readonly originalContext?: number;
  /** The header speaks of a rotary position encoding at all. */
  readonly rotates?: boolean;
  /** A tensor has a factor for each frequency (`rope_freqs`, `rope_factors_long`): Llama 3.1, Phi 3. */
  readonly factors?: boolean;
}

/** What a model's header says about the positions it was trained on. */
export interface TrainedContext {
  /** `context_length`; 0: it does not say. */
  readonly contextLength: number;
  /** Absent: what a running server reports, which has applied its options already. */
  readonly rope?: RopeScaling;
}

/** Typed view of a GGUF header: what memory arithmetic needs to know about a model. */
export interface Model {
  readonly architecture: string;
  /** undefined: this version does not know its rules. */
  readonly rules: Architecture | undefined;
  readonly name: string | undefined;
  readonly contextLength: number;
  readonly rope: RopeScaling;
  readonly embeddingLength: number;
  readonly vocabularySize: number;
  /** Layers of the main context and, last, the MTP blocks. */
  readonly layers: readonly Layer[];
  readonly mtpLayers: number;
  readonly slidingWindow: number;
  readonly mla: MlaShape | undefined;
  readonly experts: Experts | undefined;
  readonly stateKeys: StateShapeKeys;
  /** Width of the sparse-attention indexer's K row, 0 without one. */
  readonly indexerKeyLength: number;
  /** Heads of that indexer, 0 without one. */
  readonly indexerHeads: number;
  /** Positions have sections (M-RoPE): four of them for each token. */
  readonly positionSections: boolean;
  /** Attention is tempered by position (`attention.temperature_scale`). */
  readonly temperatureScale: boolean;
  /** `rope.dimension_count`, 0 where absent. */
  readonly ropeDimensions: number;
  /** Values of one layer's extra embedding (Gemma 3n and 4). */
  readonly perLayerEmbedding: number;
  readonly causal: boolean;
  readonly poolingType: number;
  readonly tensors: TensorSizes;
  readonly warnings: readonly ModelWarning[];
}
