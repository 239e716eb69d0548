import type { GgufHeader, TensorInfo } from "./ggufHeader";

export type TensorRole = "input" | "layer" | "output";

/** Tensors by where llama.cpp puts them: input side (always host), one layer, output side. */
export interface PlacedTensor {
  readonly name: string;
  /** Without `.weight`. */
  readonly matrix: string;
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

/** Read before the first layer, so kept on the host (`LLM_TENSOR_LAYER_INPUT` in llama-arch.cpp). */
const inputNames =
  /^(token_embd|token_embd_norm|token_types|position_embd|per_layer_token_embd)\.|\.nextn\.embed_tokens\./;
/** Created with the first layer although they belong to none. */
const firstLayerNames = /^per_layer_(model_proj|proj_norm)\./;

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
    const layer = layerOf(info.name);
    const role: TensorRole = inputNames.test(info.name) ? "input" : layer >= 0 ? "layer" : "output";
    if (role === "layer" && layer < layers) layerBytes[layer] = (layerBytes[layer] ?? 0) + bytes;
    else if (role === "input") inputBytes += bytes;
    else outputBytes += bytes;
    if (info.name === "token_embd.weight") embeddingBytes = bytes;
    if (info.name === "output.weight") hasOutput = true;
    all.push({ name: info.name, matrix: info.name.replace(/\.weight$/, ""), role, layer, bytes, info });
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

function layerOf(name: string): number {
  const block = /^(?:(?:enc|dec)\.)?blk\.(\d{1,6})\./.exec(name)?.[1];
  return block !== undefined ? Number(block) : firstLayerNames.test(name) ? 0 : -1;
}
