import { say } from "../text";
import { UserError } from "../userError";
import type { MetadataValue, TensorInfo } from "./ggufHeader";
import { tensorBytes } from "./ggmlTypes";

/** One file's part of a header. */
export interface GgufPart {
  readonly metadata: ReadonlyMap<string, MetadataValue>;
  readonly tensors: readonly TensorInfo[];
  readonly vocabularySize?: number;
  /** Where the header ends and where the last tensor does, from the file's start. */
  readonly headerBytes: number;
  readonly dataEnd: number;
}

export type GgufParse =
  | { readonly kind: "done"; readonly part: GgufPart }
  /** The header goes on: parse again with at least so many bytes from the file's start. */
  | { readonly kind: "more"; readonly bytes: number };

/** Above every real header, below what would hang the host. */
const limits = { keys: 65_536, tensors: 1_000_000, keyLength: 65_535, depth: 4, dimensions: 8 } as const;
/** Arrays longer than this are vocabularies: counted, not kept. */
const keptArray = 16_384;

const scalarBytes = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8] as const;
const stringType = 8;
const arrayType = 9;

class More extends Error {
  constructor(readonly bytes: number) {
    super("more bytes needed");
  }
}

/**
 * Reads a GGUF header (version 2 and 3, little endian; layout in ggml's docs/gguf.md) out of a file's first bytes.
 * Vocabulary arrays are stepped over without building their strings. Throws a `UserError` for what is no GGUF.
 */
export function parseGguf(file: Uint8Array, name: string): GgufParse {
  try {
    return { kind: "done", part: new Reader(file, name).part() };
  } catch (error) {
    if (error instanceof More) return { kind: "more", bytes: error.bytes };
    throw error;
  }
}

class Reader {
  private readonly view: DataView;
  private readonly decoder = new TextDecoder();
  private at = 0;
  private vocabularySize: number | undefined;

  constructor(
    private readonly file: Uint8Array,
    private readonly name: string,
  ) {
    this.view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  }

  part(): GgufPart {
    this.need(24);
    if (this.view.getUint32(0, true) !== 0x46554747) this.broken(say`It does not begin like a GGUF file.`);
    const version = this.view.getUint32(4, true);
    if (version < 2 || version > 3) this.broken(say`Its GGUF version or byte order is not supported.`);
    this.at = 8;
    const tensorCount = this.size(limits.tensors);
    const keyCount = this.size(limits.keys);
    const metadata = new Map<string, MetadataValue>();
    for (let i = 0; i < keyCount; i++) {
      const key = this.string(limits.keyLength);
      const value = this.value(this.uint32(), key, 0);
      if (value !== undefined) metadata.set(key, value);
    }
    const alignment = this.alignment(metadata);
    const raw = Array.from({ length: tensorCount }, () => this.tensor());
    const dataStart = Math.ceil(this.at / alignment) * alignment;
    return {
      metadata,
      ...this.sized(raw, dataStart),
      ...(this.vocabularySize === undefined ? {} : { vocabularySize: this.vocabularySize }),
      headerBytes: this.at,
    };
  }

  private sized(
    raw: readonly RawTensor[],
    dataStart: number,
  ): { readonly tensors: readonly TensorInfo[]; readonly dataEnd: number } {
    const offsets = raw.map((tensor) => tensor.offset).sort((a, b) => a - b);
    const following = new Map(offsets.map((offset, i) => [offset, offsets[i + 1]] as const));
    let dataEnd = dataStart;
    const tensors = raw.map(({ name, shape, type, offset }): TensorInfo => {
      const bytes = tensorBytes(type, shape) ?? Math.max(0, (following.get(offset) ?? offset) - offset);
      if (!Number.isSafeInteger(bytes)) this.broken(say`The tensor ${name} has impossible dimensions.`);
      dataEnd = Math.max(dataEnd, dataStart + offset + bytes);
      return { name, shape, type, bytes };
    });
    return { tensors, dataEnd };
  }

  private tensor(): RawTensor {
    const name = this.string(limits.keyLength);
    const dimensions = this.uint32();
    if (dimensions > limits.dimensions) this.broken(say`The tensor ${name} has impossible dimensions.`);
    const shape = Array.from({ length: dimensions }, () => this.size(Number.MAX_SAFE_INTEGER));
    const type = this.uint32();
    return { name, shape, type, offset: this.size(Number.MAX_SAFE_INTEGER) };
  }

  private value(type: number, key: string, depth: number): MetadataValue | undefined {
    if (type === stringType) return this.string(Number.MAX_SAFE_INTEGER);
    if (type !== arrayType) return this.scalar(type);
    if (depth >= limits.depth) this.broken(say`The value of ${key} is nested too deeply.`);
    const itemType = this.uint32();
    const length = this.size(Number.MAX_SAFE_INTEGER);
    const keep = length <= keptArray && !key.startsWith("tokenizer.");
    if (key === "tokenizer.ggml.tokens") this.vocabularySize = length;
    const bytes = scalarBytes[itemType];
    if (bytes === undefined) this.broken(say`The value of ${key} has an unknown type.`);
    if (bytes > 0 && !keep) {
      this.skip(length * bytes);
      return undefined;
    }
    // at least as many bytes as items: a lying length runs out of file before it runs out of memory
    this.need(length * Math.max(1, bytes));
    if (itemType === stringType && !keep) {
      for (let i = 0; i < length; i++) this.skip(this.size(Number.MAX_SAFE_INTEGER));
      return undefined;
    }
    const items: MetadataValue[] = [];
    for (let i = 0; i < length; i++) {
      const item = this.value(itemType, key, depth + 1);
      if (item !== undefined) items.push(item);
    }
    return items;
  }

  private scalar(type: number): MetadataValue {
    const bytes = scalarBytes[type] ?? 0;
    if (bytes === 0) this.broken(say`A metadata value has an unknown type.`);
    this.need(bytes);
    const at = this.at;
    this.at += bytes;
    switch (type) {
      case 0:
        return this.view.getUint8(at);
      case 1:
        return this.view.getInt8(at);
      case 2:
        return this.view.getUint16(at, true);
      case 3:
        return this.view.getInt16(at, true);
      case 4:
        return this.view.getUint32(at, true);
      case 5:
        return this.view.getInt32(at, true);
      case 6:
        return this.view.getFloat32(at, true);
      case 7:
        return this.view.getUint8(at) !== 0;
      case 10:
        return this.view.getBigUint64(at, true);
      case 11:
        return this.view.getBigInt64(at, true);
      default:
        return this.view.getFloat64(at, true);
    }
  }

  private alignment(metadata: ReadonlyMap<string, MetadataValue>): number {
    const value = metadata.get("general.alignment");
    return typeof value === "number" && value >= 1 && value <= 65_536 ? value : 32;
  }

  private string(limit: number): string {
    const length = this.size(limit);
    this.need(length);
    const text = this.decoder.decode(this.file.subarray(this.at, this.at + length));
    this.at += length;
    return text;
  }

  private uint32(): number {
    this.need(4);
    const value = this.view.getUint32(this.at, true);
    this.at += 4;
    return value;
  }

  private size(limit: number): number {
    this.need(8);
    const value = this.view.getUint32(this.at, true) + this.view.getUint32(this.at + 4, true) * 2 ** 32;
    this.at += 8;
    if (value > limit) this.broken(say`A length in its header cannot be true.`);
    return value;
  }

  private skip(bytes: number): void {
    this.need(bytes);
    this.at += bytes;
  }

  private need(bytes: number): void {
    if (this.at + bytes > this.file.byteLength) throw new More(this.at + bytes);
  }

  private broken(what: ReturnType<typeof say>): never {
    throw new UserError(
      "invalidInput",
      say`${this.name} cannot be read as a GGUF model. ${what}`,
      say`Check the download, or choose another file.`,
    );
  }
}

interface RawTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: number;
  readonly offset: number;
}
