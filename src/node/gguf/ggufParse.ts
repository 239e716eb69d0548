import type { GGUFParseOutput } from "@huggingface/gguf";
import type { MetadataValue, TensorInfo } from "../../core/model/ggufHeader";
import { tensorBytes } from "../../core/model/ggmlTypes";
import type { SkimmedHeader } from "../../core/model/ggufSkim";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";

/** One file's part of a header. */
export interface GgufPart {
  readonly metadata: ReadonlyMap<string, MetadataValue>;
  readonly tensors: readonly TensorInfo[];
  readonly vocabularySize?: number;
  /** Where the last tensor ends, from the file's start. */
  readonly dataEnd: number;
}

/** Names the library gives to what every header begins with. */
const counts = new Set(["version", "tensor_count", "kv_count"]);

/** Values and tensors of a skimmed header, read by @huggingface/gguf. */
export async function parseHeader(header: SkimmedHeader, name: string): Promise<GgufPart> {
  const { gguf } = await import("@huggingface/gguf");
  let output: GGUFParseOutput;
  try {
    output = await gguf("http://header/", { fetch: serve(header.bytes) });
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new UserError(
      "invalidInput",
      say`${name} cannot be read as a GGUF model. ${message}`,
      say`Check the download, or choose another file.`,
      { cause },
    );
  }
  const metadata = new Map<string, MetadataValue>(
    Object.entries(output.metadata as Record<string, MetadataValue>).filter(([key]) => !counts.has(key)),
  );
  return {
    metadata,
    ...sized(output, header.headerBytes, alignmentOf(metadata, name), name),
    ...(header.vocabularySize === undefined ? {} : { vocabularySize: header.vocabularySize }),
  };
}

/** The library asks for ranges of an address; the bytes are here already. */
function serve(bytes: Uint8Array<ArrayBuffer>): typeof fetch {
  return (_, init) => {
    const range = /bytes=(\d+)-(\d+)/.exec(new Headers(init?.headers).get("range") ?? "");
    const part = bytes.subarray(Number(range?.[1] ?? 0), Number(range?.[2] ?? bytes.byteLength) + 1);
    return Promise.resolve(new Response(part));
  };
}

function sized(
  { tensorInfos }: GGUFParseOutput,
  headerBytes: number,
  alignment: number,
  file: string,
): { readonly tensors: readonly TensorInfo[]; readonly dataEnd: number } {
  const dataStart = Math.ceil(headerBytes / alignment) * alignment;
  const offsets = tensorInfos.map((tensor) => Number(tensor.offset)).sort((a, b) => a - b);
  const following = new Map(offsets.map((offset, i) => [offset, offsets[i + 1]] as const));
  let dataEnd = dataStart;
  const tensors = tensorInfos.map(({ name, shape: dimensions, dtype, offset: at }): TensorInfo => {
    const shape = dimensions.map(Number);
    const offset = Number(at);
    const bytes = tensorBytes(dtype, shape) ?? Math.max(0, (following.get(offset) ?? offset) - offset);
    const values = shape.reduce((product, size) => product * size, 1);
    if (!Number.isSafeInteger(bytes) || values >= 2 ** 63) {
      throw new UserError(
        "invalidInput",
        say`${file} cannot be read as a GGUF model. The tensor ${name} has impossible dimensions.`,
        say`Check the download, or choose another file.`,
      );
    }
    dataEnd = Math.max(dataEnd, dataStart + offset + bytes);
    return { name, shape, type: dtype, bytes };
  });
  return { tensors, dataEnd };
}

/** A power of two, as llama.cpp demands. */
function alignmentOf(metadata: ReadonlyMap<string, MetadataValue>, file: string): number {
  const value = metadata.get("general.alignment") ?? 32;
  if (typeof value === "number" && value >= 1 && Number.isInteger(Math.log2(value))) return value;
  throw new UserError(
    "invalidInput",
    say`${file} cannot be read as a GGUF model. Its alignment is not a power of two.`,
    say`Check the download, or choose another file.`,
  );
}
