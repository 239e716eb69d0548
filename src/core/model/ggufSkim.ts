import { say, type Text } from "../text";
import { UserError } from "../userError";

/** A header without its vocabulary: a complete, small GGUF header that any reader takes. */
export interface SkimmedHeader {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly vocabularySize?: number;
  /** Where the header ends in the file. */
  readonly headerBytes: number;
}

export type GgufSkim =
  | { readonly kind: "done"; readonly header: SkimmedHeader }
  /** The header goes on: skim again with at least so many bytes from the file's start. */
  | { readonly kind: "more"; readonly bytes: number };

/**
 * Counts above every real header, below what would hang the host; names and dimensions as llama.cpp takes them (gguf.cpp,
 * `GGML_MAX_NAME` with the zero at its end, `GGML_MAX_DIMS`).
 */
const limits = {
  keys: 65_536,
  tensors: 65_536,
  key: 65_535,
  tensorName: 63,
  depth: 4,
  dimensions: 4,
} as const;
/** Arrays longer than this are vocabularies, whatever their key. */
const keptArray = 16_384;

/** Bytes of a GGUF value by type number; 0 where the size is in the value. */
const scalarBytes = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8] as const;
const stringType = 8;
const arrayType = 9;

class More extends Error {
  constructor(readonly bytes: number) {
    super("more bytes needed");
  }
}

/**
 * Steps over a GGUF header (version 2 and 3, little endian; layout in ggml's docs/gguf.md), checks every length in it and
 * leaves the vocabulary out. Building its strings takes a reader half a second and a lying length takes it longer; what
 * is left is some tens of kilobytes. Throws a `UserError` for what is no GGUF.
 */
export function skimGguf(file: Uint8Array, name: string): GgufSkim {
  try {
    return { kind: "done", header: new Skimmer(file, name).header() };
  } catch (error) {
    if (error instanceof More) return { kind: "more", bytes: error.bytes };
    throw error;
  }
}

class Skimmer {
  private readonly view: DataView;
  private readonly decoder = new TextDecoder();
  private at = 8;
  private vocabularySize: number | undefined;

  constructor(
    private readonly file: Uint8Array,
    private readonly name: string,
  ) {
    this.view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  }

  header(): SkimmedHeader {
    this.need(24, 0);
    if (this.view.getUint32(0, true) !== 0x46554747) this.broken(say`It does not start like a GGUF file.`);
    const version = this.view.getUint32(4, true);
    if (version < 2 || version > 3) this.broken(say`Its GGUF version or byte order is not supported.`);
    const tensors = this.size(limits.tensors);
    const keys = this.size(limits.keys);
    const kept: (readonly [start: number, end: number])[] = [];
    for (let i = 0; i < keys; i++) {
      const start = this.at;
      if (this.keyAndValue()) kept.push([start, this.at]);
    }
    const start = this.at;
    for (let i = 0; i < tensors; i++) this.tensor();
    return {
      bytes: this.joined(kept, [start, this.at]),
      ...(this.vocabularySize === undefined ? {} : { vocabularySize: this.vocabularySize }),
      headerBytes: this.at,
    };
  }

  private joined(
    kept: readonly (readonly [number, number])[],
    tensors: readonly [number, number],
  ): Uint8Array<ArrayBuffer> {
    const parts = [[0, 24] as const, ...kept, tensors].map(([start, end]) => this.file.subarray(start, end));
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.byteLength;
    }
    new DataView(bytes.buffer).setBigUint64(16, BigInt(kept.length), true);
    return bytes;
  }

  /** false where it is part of the vocabulary. */
  private keyAndValue(): boolean {
    const length = this.size(limits.key);
    this.need(length);
    const key = this.decoder.decode(this.file.subarray(this.at, this.at + length));
    this.at += length;
    const type = this.uint32();
    if (type !== arrayType) {
      this.value(type, key, 0);
      return true;
    }
    return this.array(key, 0);
  }

  private value(type: number, key: string, depth: number): void {
    if (type === stringType) this.skip(this.size(Number.MAX_SAFE_INTEGER));
    else if (type === arrayType) this.array(key, depth);
    else this.skip(this.bytesOf(type, key));
  }

  /** Whether the array is short enough, and no part of the vocabulary. */
  private array(key: string, depth: number): boolean {
    if (depth >= limits.depth) this.broken(say`The value of ${key} is nested too deeply.`);
    const itemType = this.uint32();
    const length = this.size(Number.MAX_SAFE_INTEGER);
    if (key === "tokenizer.ggml.tokens") this.vocabularySize = length;
    const bytes = itemType === stringType || itemType === arrayType ? 0 : this.bytesOf(itemType, key);
    if (bytes > 0) {
      this.skip(length * bytes);
    } else {
      // every item takes bytes of its own: a lying length runs out of file before it runs out of time
      this.need(length * 8);
      for (let i = 0; i < length; i++) this.value(itemType, key, depth + 1);
    }
    return length <= keptArray && !key.startsWith("tokenizer.");
  }

  private bytesOf(type: number, key: string): number {
    const bytes = scalarBytes[type] ?? 0;
    return bytes > 0 ? bytes : this.broken(say`The value of ${key} has an unknown type.`);
  }

  private tensor(): void {
    this.skip(this.size(limits.tensorName));
    const dimensions = this.uint32();
    if (dimensions > limits.dimensions) this.broken(say`A tensor has impossible dimensions.`);
    for (let i = 0; i < dimensions; i++) this.size(Number.MAX_SAFE_INTEGER);
    this.uint32();
    this.size(Number.MAX_SAFE_INTEGER);
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
    if (value > limit) this.broken(say`The header contains an impossible length.`);
    return value;
  }

  private skip(bytes: number): void {
    this.need(bytes);
    this.at += bytes;
  }

  private need(bytes: number, from = this.at): void {
    if (from + bytes > this.file.byteLength) throw new More(from + bytes);
  }

  private broken(what: Text): never {
    throw new UserError(
      "invalidInput",
      say`${this.name} cannot be read as a GGUF model. ${what}`,
      say`Check the download, or choose another file.`,
    );
  }
}
