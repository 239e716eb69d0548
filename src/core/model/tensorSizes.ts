import type { GgufHeader, TensorInfo } from "./ggufHeader";

export type TensorRole = "input" | "layer" | "output";

/** Tensors by where llama.cpp puts them: input side (always host), one layer, output side. */
export interface PlacedTensor {
  readonly name: string;
  readonly role: TensorRole;
  /** Layer it belongs to; -1 outside layers. */
  readonly layer: number;
  readonly bytes: number;
  readonly info: TensorInfo;
}

export interface TensorSizes {
  readonly all: readonly PlacedTensor[];
  readonly totalBytes: number;
  readonly parameters: number;
  /** Bytes of `blk.N.*`. */
  readonly layerBytes: readonly number[];
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** Bytes of the token embedding where it also serves as the output matrix; else 0. */
  readonly tiedBytes: number;
}

const inputNames =
  /^(token_embd|token_types|position_embd|token_embd_norm|per_layer_token_embd|tok_embd|enc\.|altup_.*embd)/;

export function tensorSizes(header: GgufHeader, layers: number): TensorSizes {
  const layerBytes = new Array<number>(layers).fill(0);
  const all: PlacedTensor[] = [];
  let totalBytes = 0;
  let parameters = 0;
  let inputBytes = 0;
  let outputBytes = 0;
  let embeddingBytes = 0;
  let hasOutput = false;
  for (const info of header.tensors) {
    const bytes = Math.max(0, info.bytes);
    totalBytes += bytes;
    parameters += info.shape.reduce((product, size) => product * size, 1);
    const block = /^blk\.(\d{1,6})\./.exec(info.name)?.[1];
    const layer = block === undefined ? -1 : Number(block);
    if (layer >= 0) {
      if (layer < layers) layerBytes[layer] = (layerBytes[layer] ?? 0) + bytes;
      all.push({ name: info.name, role: "layer", layer, bytes, info });
      continue;
    }
    const role: TensorRole = inputNames.test(info.name) ? "input" : "output";
    if (role === "input") inputBytes += bytes;
    else outputBytes += bytes;
    if (info.name === "token_embd.weight") embeddingBytes = bytes;
    if (info.name === "output.weight") hasOutput = true;
    all.push({ name: info.name, role, layer: -1, bytes, info });
  }
  return {
    all,
    totalBytes,
    parameters,
    layerBytes,
    inputBytes,
    outputBytes,
    tiedBytes: hasOutput ? 0 : embeddingBytes,
  };
}
