import type { PackedStrings } from "../../model/tokenizerSpec";
import type { CompiledVocabulary, TokenTables, VocabularyTables } from "./compiledVocabulary";
import type { BpeVocabulary } from "./bpeVocabulary";
import type { ByteStringArrays } from "./byteStrings";
import type { SpmVocabulary } from "./spm";
import type { TokenizerKeys } from "./vocabularyDefaults";

/**
 * A compiled vocabulary as one block of bytes: magic, version, checksum, then a JSON head that names the arrays, then
 * the arrays, each at a multiple of 8. Opening it copies nothing, so threads can share one block.
 */
const magic = 0x4c475631;
/** Changes with anything that changes what is stored. */
const version = 4;
const headStart = 32;
/** Words the checksum is kept in. */
const sumAt = 3;

type Stored = Uint8Array | Uint32Array | Int32Array | Float32Array;
type Arrays = Record<string, Stored>;

interface Head {
  readonly keys: TokenizerKeys;
  readonly kind: VocabularyTables["kind"];
  readonly numbers: Readonly<Record<string, number>>;
  readonly arrays: readonly (readonly [name: string, type: ArrayType, offset: number, length: number])[];
}

type ArrayType = "u8" | "u32" | "i32" | "f32";

export function packVocabulary({ keys, specials, tables }: CompiledVocabulary): Uint8Array<ArrayBuffer> {
  const arrays: Arrays = { specialIds: specials.ids, specialAttributes: specials.attributes };
  const numbers: Record<string, number> = {};
  putStrings(arrays, "special", specials.texts);
  if (tables.kind === "bpe") {
    const { bpe } = tables;
    numbers["tokens"] = bpe.tokens;
    putTable(arrays, numbers, bpe.strings);
    Object.assign(arrays, { pairs: bpe.pairs.slots, pairFilter: bpe.pairs.filter });
    Object.assign(arrays, { singles: bpe.singles, byteTokens: bpe.byteTokens });
    if (bpe.junctions) arrays["junctions"] = bpe.junctions;
  } else if (tables.kind === "spm") {
    const { spm } = tables;
    putTable(arrays, numbers, spm.strings);
    Object.assign(arrays, { ranks: spm.ranks, junctions: spm.junctions, byteTokens: spm.byteTokens });
  } else {
    const { tokens } = tables;
    putStrings(arrays, "token", tokens.texts);
    arrays["attributes"] = tokens.attributes;
    if (tokens.tokenTypes) arrays["tokenTypes"] = tokens.tokenTypes;
    if (tokens.scores) arrays["scores"] = tokens.scores;
    if (tokens.charsmap) arrays["charsmap"] = tokens.charsmap;
  }
  return write(keys, tables.kind, numbers, arrays);
}

function putStrings(arrays: Arrays, name: string, strings: PackedStrings): void {
  Object.assign(arrays, {
    [`${name}Bytes`]: strings.bytes,
    [`${name}Starts`]: strings.starts,
    [`${name}Ends`]: strings.ends,
  });
}

function putTable(arrays: Arrays, numbers: Record<string, number>, table: ByteStringArrays): void {
  Object.assign(arrays, { bytes: table.bytes, starts: table.starts, ends: table.ends, slots: table.slots });
  numbers["count"] = table.count;
  numbers["used"] = table.used;
}

function write(
  keys: TokenizerKeys,
  kind: Head["kind"],
  numbers: Head["numbers"],
  arrays: Arrays,
): Uint8Array<ArrayBuffer> {
  let offset = 0;
  const entries = Object.entries(arrays).map(([name, array]) => {
    const entry = [name, typeOf(array), offset, array.length] as const;
    offset = aligned(offset + array.byteLength);
    return entry;
  });
  const head = new TextEncoder().encode(
    JSON.stringify({ keys, kind, numbers, arrays: entries } satisfies Head),
  );
  const body = aligned(headStart + head.length);
  const block = new Uint8Array(body + offset);
  block.set(head, headStart);
  Object.values(arrays).forEach((array, i) => {
    block.set(
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength),
      body + (entries[i]?.[2] ?? 0),
    );
  });
  const words = new Uint32Array(block.buffer);
  words[0] = magic;
  words[1] = version;
  words[2] = head.length;
  words.set(checksum(words), sumAt);
  return block;
}

/** The vocabulary in a block, or nothing where the block is damaged or of another version. */
export function unpackVocabulary(buffer: ArrayBufferLike): CompiledVocabulary | undefined {
  return isIntact(buffer) ? vocabularyIn(buffer) : undefined;
}

function isIntact(buffer: ArrayBufferLike): boolean {
  if (buffer.byteLength < headStart || buffer.byteLength % 8 !== 0) return false;
  const words = new Uint32Array(buffer);
  if (words[0] !== magic || words[1] !== version) return false;
  const [first, second] = checksum(words);
  return words[sumAt] === first && words[sumAt + 1] === second;
}

/** The vocabulary in a block that this program has made or checked itself. */
export function vocabularyIn(buffer: ArrayBufferLike): CompiledVocabulary {
  const words = new Uint32Array(buffer, 0, headStart / 4);
  const headLength = words[2] as number;
  // a copy: shared memory cannot be decoded
  const text = new TextDecoder().decode(new Uint8Array(buffer, headStart, headLength).slice());
  const head = JSON.parse(text) as Head;
  const arrays = new ArraysOfBlock(buffer, aligned(headStart + headLength), head);
  return {
    keys: head.keys,
    specials: {
      ids: arrays.i32("specialIds"),
      attributes: arrays.u8("specialAttributes"),
      texts: arrays.strings("special"),
    },
    tables: tablesFrom(head, arrays),
  };
}

function tablesFrom(head: Head, arrays: ArraysOfBlock): VocabularyTables {
  switch (head.kind) {
    case "bpe": {
      const bpe: BpeVocabulary = {
        tokens: head.numbers["tokens"] ?? 0,
        strings: arrays.table(),
        pairs: { slots: arrays.i32("pairs"), filter: arrays.u32("pairFilter") },
        singles: arrays.i32("singles"),
        byteTokens: arrays.i32("byteTokens"),
        ...(arrays.has("junctions") ? { junctions: arrays.u32("junctions") } : {}),
      };
      return { kind: "bpe", bpe };
    }
    case "spm": {
      const spm: SpmVocabulary = {
        strings: arrays.table(),
        ranks: arrays.i32("ranks"),
        junctions: arrays.u32("junctions"),
        byteTokens: arrays.i32("byteTokens"),
      };
      return { kind: "spm", spm };
    }
    case "tokens": {
      const tokens: TokenTables = {
        texts: arrays.strings("token"),
        attributes: arrays.u8("attributes"),
        ...(arrays.has("tokenTypes") ? { tokenTypes: arrays.i32("tokenTypes") } : {}),
        ...(arrays.has("scores") ? { scores: arrays.f32("scores") } : {}),
        ...(arrays.has("charsmap") ? { charsmap: arrays.u8("charsmap") } : {}),
      };
      return { kind: "tokens", tokens };
    }
  }
}

class ArraysOfBlock {
  constructor(
    private readonly buffer: ArrayBufferLike,
    private readonly body: number,
    private readonly head: Head,
  ) {}

  has(name: string): boolean {
    return this.head.arrays.some(([each]) => each === name);
  }

  u8(name: string): Uint8Array {
    return new Uint8Array(this.buffer, ...this.place(name));
  }

  u32(name: string): Uint32Array {
    return new Uint32Array(this.buffer, ...this.place(name));
  }

  i32(name: string): Int32Array {
    return new Int32Array(this.buffer, ...this.place(name));
  }

  f32(name: string): Float32Array {
    return new Float32Array(this.buffer, ...this.place(name));
  }

  strings(name: string): PackedStrings {
    return {
      bytes: this.u8(`${name}Bytes`),
      starts: this.u32(`${name}Starts`),
      ends: this.u32(`${name}Ends`),
    };
  }

  table(): ByteStringArrays {
    return {
      bytes: this.u8("bytes"),
      starts: this.u32("starts"),
      ends: this.u32("ends"),
      slots: this.i32("slots"),
      count: this.head.numbers["count"] ?? 0,
      used: this.head.numbers["used"] ?? 0,
    };
  }

  private place(name: string): [offset: number, length: number] {
    const entry = this.head.arrays.find(([each]) => each === name);
    if (!entry) throw new Error(`no array ${name} in the block`);
    return [this.body + entry[2], entry[3]];
  }
}

function typeOf(array: Stored): ArrayType {
  if (array instanceof Uint8Array) return "u8";
  if (array instanceof Uint32Array) return "u32";
  return array instanceof Int32Array ? "i32" : "f32";
}

const aligned = (offset: number): number => (offset + 7) & ~7;

/** Equal for equal vocabularies: a block's checksum as text. */
export function fingerprintOf(block: ArrayBufferLike): string {
  const words = new Uint32Array(block, sumAt * 4, 2);
  return Array.from(words, (word) => word.toString(16).padStart(8, "0")).join("");
}

/** Two independent sums over everything but the words they are kept in. */
function checksum(words: Uint32Array): [number, number] {
  const { length } = words;
  let first = 0x811c9dc5 | 0;
  let second = 0x2545f491 | 0;
  for (let i = 0; i < sumAt; i++) first = Math.imul(first ^ (words[i] as number), 0x01000193);
  for (let i = sumAt + 2; i < length; i++) {
    const word = words[i] as number;
    first = Math.imul(first ^ word, 0x01000193);
    second = (Math.imul(second, 0x9e3779b1 | 0) + word) | 0;
    second ^= second >>> 15;
  }
  return [first >>> 0, second >>> 0];
}
