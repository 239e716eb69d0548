import { randomUUID } from "node:crypto";
import { open, rename } from "node:fs/promises";
import { ByteWriter } from "./byteWriter";
import type { GgufArray, GgufMetadata, GgufValue } from "./ggufValue";
import { tensorBytes, tensorData, tensorTypeId, type TensorSpec } from "./tensor";

export interface GgufFile {
  readonly metadata: GgufMetadata;
  readonly tensors: readonly TensorSpec[];
}

export interface WriteOptions {
  /** "sparse": header and tensor table only, and the file lengthened to its full size; takes no room on the disk. */
  readonly weights?: "random" | "sparse";
  readonly seed?: number;
}

const typeIds = { u8: 0, u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9, u64: 10 } as const;
const defaultAlignment = 32;

/** Writes a GGUF v3 file, whole or not at all. */
export async function writeGguf(path: string, file: GgufFile, options: WriteOptions = {}): Promise<void> {
  const header = ggufHeaderBytes(file);
  const alignment = alignmentOf(file.metadata);
  const partial = `${path}.${randomUUID()}.partial`;
  const handle = await open(partial, "w");
  try {
    await handle.write(header);
    const align = (bytes: number): number => Math.ceil(bytes / alignment) * alignment;
    let position = header.length;
    for (const [index, tensor] of file.tensors.entries()) {
      if (options.weights !== "sparse") {
        await handle.write(tensorData(tensor, (options.seed ?? 1) * 1000 + index + 1), 0, null, position);
      }
      position += align(tensorBytes(tensor));
    }
    await handle.truncate(position);
  } finally {
    await handle.close();
  }
  await rename(partial, path);
}

/** Everything before the tensor data, padded to the alignment. */
export function ggufHeaderBytes({ metadata, tensors }: GgufFile): Buffer {
  const out = new ByteWriter();
  out.u32(0x46554747); // "GGUF"
  out.u32(3);
  out.u64(tensors.length);
  out.u64(metadata.size);
  for (const [key, value] of metadata) {
    out.string(key);
    out.u32(typeIds[value.type]);
    writeValue(out, value);
  }
  const alignment = alignmentOf(metadata);
  let offset = 0;
  for (const tensor of tensors) {
    out.string(tensor.name);
    out.u32(tensor.shape.length);
    for (const side of tensor.shape) out.u64(side);
    out.u32(tensorTypeId(tensor));
    out.u64(offset);
    offset += Math.ceil(tensorBytes(tensor) / alignment) * alignment;
  }
  out.padTo(alignment);
  return out.bytes();
}

function alignmentOf(metadata: GgufMetadata): number {
  const value = metadata.get("general.alignment");
  return value?.type === "u32" ? value.value : defaultAlignment;
}

function writeValue(out: ByteWriter, value: GgufValue): void {
  switch (value.type) {
    case "u32":
    case "i32":
    case "u64":
    case "f32":
      out[value.type](value.value);
      return;
    case "bool":
      out.u8(value.value ? 1 : 0);
      return;
    case "string":
      out.string(value.value);
      return;
    case "array":
      writeArray(out, value);
  }
}

function writeArray(out: ByteWriter, array: GgufArray): void {
  out.u32(typeIds[array.of]);
  out.u64(array.values.length);
  switch (array.of) {
    case "string":
      for (const text of array.values) out.string(text);
      return;
    case "bool":
      for (const flag of array.values) out.u8(flag ? 1 : 0);
      return;
    default:
      for (const number of array.values) out[array.of](number);
  }
}
