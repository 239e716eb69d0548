import type { GgmlType } from "../model/ggmlTypes";
import type { Layer, Model } from "../model/model";
import type { Backend } from "./devices/memoryDevice";

/**
 * Whether every backend has a flash attention kernel for the model's heads and the cache's types; where one has not,
 * `-fa auto` turns it off (`supports_op` of ggml-cuda, ggml-metal and ggml-vulkan, ordinary release builds).
 */
export function allDoFlash(
  model: Model,
  typeK: GgmlType,
  typeV: GgmlType,
  backends: readonly Backend[],
): boolean {
  const layers = model.layers.filter(({ kind }) => kind === "attention" || kind === "swa");
  return layers.length === 0 || backends.every((backend) => does(backend, model, layers, typeK, typeV));
}

const cudaTypes = new Set(["f32", "f16", "bf16", "q4_0", "q8_0"]);
const cudaHeads = new Set([40, 64, 72, 80, 96, 112, 128, 256]);
const metalHeads = new Set([32, 40, 48, 64, 72, 80, 96, 112, 128, 192, 256, 320, 512, 576]);

function does(
  backend: Backend,
  model: Model,
  layers: readonly Layer[],
  typeK: GgmlType,
  typeV: GgmlType,
): boolean {
  if (backend === "rpc" || backend === "other") return true;
  // the values of MLA are a view of K
  if (model.mla === undefined && typeK.name !== typeV.name) return false;
  if (backend === "vulkan") return layers.every((layer) => layer.keyLength % 8 === 0);
  if (backend === "metal") return layers.every((layer) => metalHeads.has(layer.keyLength));
  return cudaTypes.has(typeK.name) && layers.every((layer) => cudaHead(model, layer));
}

function cudaHead(model: Model, { keyLength, valueLength, heads, kvHeads }: Layer): boolean {
  if (model.mla !== undefined) return true;
  if (cudaHeads.has(keyLength)) return valueLength === keyLength;
  const grouped = kvHeads > 0 && heads / kvHeads >= 2;
  if (keyLength === 512) return valueLength === 512 && grouped;
  if (keyLength === 192) return valueLength === 128 && grouped;
  return keyLength === 320 && valueLength === 256 && grouped;
}
