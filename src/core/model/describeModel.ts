import type { GgufHeader } from "./ggufHeader";
import type { LayerKind, ModelWarning } from "./model";
import { modelOf } from "./modelOf";

/** What `llama-gauge model` prints; sizes in bytes. */
export interface ModelDescription {
  readonly architecture: string;
  readonly name: string | null;
  readonly contextLength: number;
  readonly layers: readonly {
    readonly index: number;
    readonly kind: LayerKind;
    readonly kvHeads: number;
    readonly keyLength: number;
    readonly valueLength: number;
  }[];
  /** Blocks for multi-token prediction, which are not among the layers. */
  readonly mtpLayers: number;
  readonly parameters: number;
  readonly weightsBytes: number;
  readonly tokenizer: { readonly model: string | null; readonly pre: string | null; readonly size: number };
  readonly warnings: readonly ModelWarning[];
}

export function describeModel(header: GgufHeader): ModelDescription {
  const model = modelOf(header);
  const text = (key: string): string | null => {
    const value = header.metadata.get(key);
    return typeof value === "string" ? value : null;
  };
  return {
    architecture: model.architecture,
    name: model.name ?? null,
    contextLength: model.contextLength,
    layers: model.layers
      .filter((layer) => !layer.mtp)
      .map(({ index, kind, kvHeads, keyLength, valueLength, ownsKv }) => ({
        index,
        kind,
        kvHeads: ownsKv ? kvHeads : 0,
        keyLength,
        valueLength,
      })),
    mtpLayers: model.mtpLayers,
    parameters: model.tensors.parameters,
    weightsBytes: model.tensors.totalBytes,
    tokenizer: {
      model: text("tokenizer.ggml.model"),
      pre: text("tokenizer.ggml.pre"),
      size: model.vocabularySize,
    },
    warnings: model.warnings,
  };
}
