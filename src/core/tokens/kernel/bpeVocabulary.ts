import type { PackedStrings, TokenizerSpec } from "../../model/tokenizerSpec";
import { packedCount } from "../../model/tokenizerSpec";
import { spellByte, unspell } from "./byteAlphabet";
import { ByteStrings, hashBytes, type ByteStringArrays } from "./byteStrings";
import { broken, duplicateToken } from "./brokenVocabulary";
import { Junctions } from "../preTokenizers/junctions";
import { PairTable, type PairArrays } from "./pairTable";
import { blank } from "../preTokenizers/scanner";
import { codePointAt } from "../unicode/utf8";

/** A byte-pair vocabulary in plain arrays. Symbols below `tokens` are token ids; the rest are texts only merges know. */
export interface BpeVocabulary {
  readonly tokens: number;
  /** Texts of the symbols: bytes where the vocabulary is byte-level, else UTF-8 with U+2581 as a blank. */
  readonly strings: ByteStringArrays;
  readonly pairs: PairArrays;
  /** Symbol of every byte (byte-level) or ASCII character (-1 where there is none). */
  readonly singles: Int32Array;
  /** Where no merge joins two characters; absent where texts are split into words first. */
  readonly junctions?: Uint32Array;
  /** Token a byte falls back to when its text is no token: spelled alone, or as `<0xXX>`; -1 where there is none. */
  readonly byteTokens: Int32Array;
}

export interface BpeShape {
  readonly byteLevel: boolean;
  /** Blanks are spelled U+2581 in the vocabulary. */
  readonly escapeBlanks: boolean;
  /** Pieces are whole lines. */
  readonly wholeLines: boolean;
}

export function buildBpeVocabulary(spec: TokenizerSpec, shape: BpeShape): BpeVocabulary {
  // llama.cpp loads Kimi K2 without merges, and no other
  const merges = spec.merges ?? (spec.pre === "kimi-k2" ? noMerges : undefined);
  if (!merges) throw broken("tokenizer.ggml.merges");
  const builder = new Builder(spec, shape);
  builder.addTokens();
  const pairs = builder.addMerges(merges);
  return builder.finish(pairs);
}

const noMerges: PackedStrings = {
  bytes: new Uint8Array(0),
  starts: new Uint32Array(0),
  ends: new Uint32Array(0),
};

class Builder {
  private readonly strings: ByteStrings;
  private readonly tokens: number;
  private readonly byteTokens = new Int32Array(256).fill(-1);
  private readonly junctions: Junctions | undefined;
  private scratch = new Uint8Array(1 << 12);

  constructor(
    private readonly spec: TokenizerSpec,
    private readonly shape: BpeShape,
  ) {
    this.tokens = packedCount(spec.tokens);
    const { ends, starts } = spec.tokens;
    const bytes = this.tokens === 0 ? 0 : (ends[this.tokens - 1] as number) - (starts[0] as number);
    this.strings = new ByteStrings(this.tokens + 512, bytes);
    this.junctions = shape.wholeLines ? new Junctions() : undefined;
  }

  addTokens(): void {
    const { tokens } = this.spec;
    const unreachable = new Set<string>();
    for (let id = 0; id < this.tokens; id++) {
      const start = tokens.starts[id] as number;
      const end = tokens.ends[id] as number;
      const length = this.read(tokens.bytes, start, end, 0);
      if (length < 0) {
        const text = latin1Of(tokens.bytes, start, end);
        if (unreachable.has(text)) throw duplicateToken(tokens.bytes.subarray(start, end));
        unreachable.add(text);
        this.strings.append(this.scratch, 0, 0);
      } else {
        const hash = hashBytes(this.scratch, 0, length);
        if (this.strings.findOrAdd(this.scratch, 0, length, hash) !== id) {
          throw duplicateToken(tokens.bytes.subarray(start, end));
        }
      }
      this.noteByteToken(tokens.bytes, start, end, id);
    }
  }

  addMerges(merges: PackedStrings): PairTable {
    const count = packedCount(merges);
    if (count >= 1 << 22) throw broken("tokenizer.ggml.merges");
    const pairs = PairTable.forMerges(count);
    const { bytes, starts, ends } = merges;
    let whole = -1;
    for (let rank = 0; rank < count; rank++) {
      const start = starts[rank] as number;
      const end = ends[rank] as number;
      let gap = start + 1;
      while (gap < end && bytes[gap] !== blank) gap++;
      if (gap >= end) continue;
      const left = this.read(bytes, start, gap, 0);
      const right = left < 0 ? -1 : this.read(bytes, gap + 1, end, left);
      // text with blanks or letters outside the alphabet never meets such a merge
      if (left <= 0 || right <= 0) continue;
      const leftHash = hashBytes(this.scratch, 0, left);
      whole = this.wholeAfter(whole, left, left + right, leftHash);
      const leftSymbol = this.symbol(0, left, leftHash);
      const rightSymbol = this.symbol(left, left + right, hashBytes(this.scratch, left, left + right));
      pairs.add(leftSymbol, rightSymbol, rank, whole);
      this.noteJunction(left, left + right);
    }
    return pairs;
  }

  /** Symbol of the text up to `end`. Most vocabularies have the results of their merges in the order of the merges. */
  private wholeAfter(previous: number, left: number, end: number, leftHash: number): number {
    const { scratch, strings } = this;
    if (strings.is(previous + 1, scratch, 0, end)) return previous + 1;
    if (strings.is(previous, scratch, 0, end)) return previous;
    return this.symbol(0, end, hashBytes(scratch, left, end, leftHash));
  }

  finish(pairs: PairTable): BpeVocabulary {
    const singles = new Int32Array(this.shape.byteLevel ? 256 : 128);
    for (let byte = 0; byte < singles.length; byte++) {
      this.scratch[0] = byte;
      const hash = hashBytes(this.scratch, 0, 1);
      singles[byte] = this.shape.byteLevel
        ? this.symbol(0, 1, hash)
        : this.strings.find(this.scratch, 0, 1, hash);
    }
    return {
      tokens: this.tokens,
      strings: this.strings.arrays(),
      pairs: { slots: pairs.slots, filter: pairs.filter },
      singles,
      ...(this.junctions ? { junctions: this.junctions.bits } : {}),
      byteTokens: this.byteTokens,
    };
  }

  /** Reads a vocabulary text into `scratch`; -1 where no text can ever reach it. */
  private read(bytes: Uint8Array, start: number, end: number, at: number): number {
    const length = end - start;
    if (at + length > this.scratch.length) {
      const grown = new Uint8Array((at + length) * 2);
      grown.set(this.scratch);
      this.scratch = grown;
    }
    if (this.shape.byteLevel) return unspell(bytes, start, end, this.scratch, at);
    return this.shape.escapeBlanks
      ? readEscaped(bytes, start, end, this.scratch, at)
      : copy(bytes, start, end, this.scratch, at);
  }

  private symbol(start: number, end: number, hash: number): number {
    return this.strings.findOrAdd(this.scratch, start, end, hash);
  }

  private noteByteToken(bytes: Uint8Array, start: number, end: number, id: number): void {
    if (this.shape.byteLevel) {
      if (end - start === 1) this.byteTokens[bytes[start] as number] = id;
      return;
    }
    const byte = hexToken(bytes, start, end);
    if (byte >= 0) this.byteTokens[byte] = id;
  }

  private noteJunction(left: number, end: number): void {
    if (!this.junctions) return;
    let last = left - 1;
    while (last > 0 && ((this.scratch[last] as number) & 0xc0) === 0x80) last--;
    if (left < end) this.junctions.add(codePointAt(this.scratch, last), codePointAt(this.scratch, left));
  }
}

/** The byte a token `<0xXX>` stands for, or -1. */
export function hexToken(bytes: Uint8Array, start: number, end: number): number {
  if (end - start !== 6 || bytes[start] !== 0x3c) return -1;
  const match = /^<0x([0-9A-F]{2})>$/.exec(latin1Of(bytes, start, end));
  return match ? parseInt(match[1] ?? "", 16) : -1;
}

/** Bytes as characters: one to one, whatever they are. */
export function latin1Of(bytes: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let i = start; i < end; i++) text += String.fromCharCode(bytes[i] as number);
  return text;
}

function copy(bytes: Uint8Array, start: number, end: number, out: Uint8Array, at: number): number {
  for (let i = start; i < end; i++) out[at + i - start] = bytes[i] as number;
  return end - start;
}

/** Copies with U+2581 as a blank. A blank of its own cannot be reached: text has none left. */
export function readEscaped(
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
  at: number,
): number {
  let written = at;
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte === blank) return -1;
    if (byte === 0xe2 && bytes[i + 1] === 0x96 && bytes[i + 2] === 0x81 && i + 2 < end) {
      out[written++] = blank;
      i += 2;
    } else {
      out[written++] = byte;
    }
  }
  return written - at;
}

/** Bytes whose tokens spell a symbol that is no token itself. */
export function fallbackBytes(symbol: Uint8Array, shape: BpeShape): number[] {
  return Array.from(symbol).flatMap((byte) =>
    shape.byteLevel ? spellByte(byte) : byte === blank && shape.escapeBlanks ? [0xe2, 0x96, 0x81] : [byte],
  );
}
