import { open } from "node:fs/promises";
import type { GgufHeader, MetadataValue, TensorInfo } from "../../../src/core/model/ggufHeader";

const floatKeys = /epsilon|freq_base|(?<!re)scale(?!_every)|softcapping|factor|beta|clamp/;
const alignment = 32;

/**
 * Writes a header as a GGUF without a vocabulary and without data behind it: the file has its full apparent size and takes
 * some kilobytes of disk. llama.cpp reads it as far as it does not load weights.
 */
export async function writeSparseModel(file: string, header: GgufHeader): Promise<void> {
  const architecture = String(header.metadata.get("general.architecture"));
  const metadata = new Map(
    [...header.metadata].filter(([key]) => !key.startsWith("tokenizer.") && key !== "general.alignment"),
  );
  metadata.set("tokenizer.ggml.model", "no_vocab");
  metadata.set(`${architecture}.vocab_size`, header.vocabularySize ?? 0);
  const parts: Buffer[] = [Buffer.from("GGUF"), u32(3), u64(header.tensors.length), u64(metadata.size)];
  for (const [key, value] of metadata) parts.push(string(key), typed(value, floatKeys.test(key)));
  let offset = 0;
  for (const tensor of header.tensors) {
    parts.push(tensorInfo(tensor, offset));
    offset += pad(tensor.bytes);
  }
  const head = Buffer.concat(parts);
  const handle = await open(file, "w");
  try {
    await handle.write(head);
    await handle.truncate(pad(head.length) + offset);
  } finally {
    await handle.close();
  }
}

const pad = (bytes: number): number => Math.ceil(bytes / alignment) * alignment;

function tensorInfo({ name, shape, type }: TensorInfo, offset: number): Buffer {
  return Buffer.concat([string(name), u32(shape.length), ...shape.map(u64), u32(type), u64(offset)]);
}

function typed(value: MetadataValue, float: boolean): Buffer {
  if (typeof value === "string") return Buffer.concat([u32(8), string(value)]);
  if (typeof value === "boolean") return Buffer.concat([u32(7), Buffer.from([value ? 1 : 0])]);
  if (typeof value === "number") {
    return float || !Number.isInteger(value)
      ? Buffer.concat([u32(6), f32(value)])
      : Buffer.concat([u32(4), u32(value)]);
  }
  if (typeof value === "bigint") return Buffer.concat([u32(10), u64(Number(value))]);
  const [first] = value;
  const items = value.map((item) => {
    if (typeof item === "boolean") return Buffer.from([item ? 1 : 0]);
    if (typeof item === "string") return string(item);
    return float ? f32(Number(item)) : u32(Number(item));
  });
  const type = typeof first === "boolean" ? 7 : typeof first === "string" ? 8 : float ? 6 : 5;
  return Buffer.concat([u32(9), u32(type), u64(value.length), ...items]);
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([u64(bytes.length), bytes]);
}

function u32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value < 0 ? value + 2 ** 32 : value);
  return buffer;
}

function u64(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(value));
  return buffer;
}

function f32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeFloatLE(value);
  return buffer;
}
