import { ByteStrings, hashBytes } from "./byteStrings";
import { fallbackBytes, type BpeShape, type BpeVocabulary } from "./bpeVocabulary";
import { MergeHeap, positionOf, rankOf } from "./mergeHeap";
import { PairTable } from "./pairTable";
import { longestCachedPiece, PieceCache } from "./pieceCache";
import { codePointAt, utf8Width, writeCodePoint } from "../unicode/utf8";
import type { Checkpoint, TokenSink } from "./tokenSink";

/** Pieces up to this many symbols are merged by scanning for the best pair; longer ones with a heap. */
const shortPiece = 48;

const noRank = 0x7fffffff;
const notAsked = -2;

/** Merges between two checkpoints. */
const mergesPerCheck = 1 << 16;

/** Byte-pair merging of single pieces. */
export class BpeMerger {
  private readonly strings: ByteStrings;
  private readonly pairs: PairTable;
  private readonly cache = new PieceCache();
  private readonly heap = new MergeHeap();
  private readonly fallbacks = new Map<number, readonly number[]>();
  /** Tokens of every byte alone, in a byte-level vocabulary. */
  private readonly byteCounts: Int32Array | undefined;
  private symbols = new Int32Array(256);
  /** Of the pair of each symbol with its right neighbour: place of its merge, and rank. */
  private readonly candidates = new Int32Array(shortPiece);
  private readonly ranks = new Int32Array(shortPiece);
  /** Place and rank of the merge of two bytes, found when they are first asked for. */
  private readonly bytePairs: Int32Array | undefined;
  private readonly byteRanks = new Int32Array(0);
  private next = new Int32Array(0);
  private previous = new Int32Array(0);

  constructor(
    private readonly vocabulary: BpeVocabulary,
    private readonly shape: BpeShape,
    private readonly ignoreMerges: boolean,
  ) {
    this.strings = ByteStrings.from(vocabulary.strings);
    this.pairs = new PairTable(vocabulary.pairs);
    if (shape.byteLevel) {
      this.bytePairs = new Int32Array(1 << 16).fill(notAsked);
      this.byteRanks = new Int32Array(1 << 16);
    }
    this.byteCounts = shape.byteLevel ? vocabulary.singles.map((symbol) => this.tokensOf(symbol)) : undefined;
  }

  /** Returns how many tokens the piece has; their ids go into `sink` where one is given. */
  tokenize(bytes: Uint8Array, start: number, end: number, check: Checkpoint, sink?: TokenSink): number {
    return sink
      ? this.emit(this.merge(bytes, start, end, check), sink)
      : this.count(bytes, start, end, check);
  }

  private count(bytes: Uint8Array, start: number, end: number, check: Checkpoint): number {
    if (end - start === 1 && this.byteCounts) return this.byteCounts[bytes[start] as number] as number;
    if (end - start > longestCachedPiece) return this.emit(this.merge(bytes, start, end, check));
    const known = this.cache.find(bytes, start, end);
    if (known > 0) return known;
    const count = this.emit(this.merge(bytes, start, end, check));
    if (count > 0) this.cache.add(bytes, start, end, count);
    return count;
  }

  /** Id of the token that is exactly this text, or -1. */
  tokenOf(bytes: Uint8Array, start: number, end: number): number {
    const symbol = this.strings.find(bytes, start, end, hashBytes(bytes, start, end));
    return symbol < this.vocabulary.tokens ? symbol : -1;
  }

  /** Tokens of the first `count` symbols. */
  private emit(count: number, sink?: TokenSink): number {
    let tokens = 0;
    for (let i = 0; i < count; i++) {
      const symbol = this.symbols[i] as number;
      tokens += this.tokensOf(symbol);
      if (sink === undefined) continue;
      if (this.isToken(symbol)) sink.push(symbol);
      else for (const id of this.fallback(symbol)) sink.push(id);
    }
    return tokens;
  }

  private isToken(symbol: number): boolean {
    return symbol >= 0 && symbol < this.vocabulary.tokens;
  }

  private tokensOf(symbol: number): number {
    return this.isToken(symbol) ? 1 : this.fallback(symbol).length;
  }

  /** Leaves the symbols of the merged piece in `symbols` and returns how many. */
  private merge(bytes: Uint8Array, start: number, end: number, check: Checkpoint): number {
    if (this.ignoreMerges) {
      const whole = this.tokenOf(bytes, start, end);
      if (whole >= 0) {
        this.symbols[0] = whole;
        return 1;
      }
    }
    const count = this.shape.byteLevel
      ? this.readBytes(bytes, start, end)
      : this.readCharacters(bytes, start, end);
    if (count < 2) return count;
    return count <= shortPiece ? this.mergeShort(bytes, start, count) : this.mergeLong(count, check);
  }

  private readBytes(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start;
    if (length > this.symbols.length) this.symbols = new Int32Array(length * 2);
    const { symbols } = this;
    const { singles } = this.vocabulary;
    for (let i = 0; i < length; i++) symbols[i] = singles[bytes[start + i] as number] as number;
    return length;
  }

  private readCharacters(bytes: Uint8Array, start: number, end: number): number {
    if (end - start > this.symbols.length) this.symbols = new Int32Array((end - start) * 2);
    let count = 0;
    for (let at = start; at < end;) {
      const byte = bytes[at] as number;
      const width = utf8Width(byte);
      let symbol: number;
      if (byte < 0x80) symbol = this.vocabulary.singles[byte] as number;
      else symbol = this.strings.find(bytes, at, at + width, hashBytes(bytes, at, at + width));
      this.symbols[count++] = symbol >= 0 ? symbol : unknownSymbol(codePointAt(bytes, at));
      at += width;
    }
    return count;
  }

  private mergeShort(bytes: Uint8Array, start: number, count: number): number {
    const { symbols, candidates, ranks, pairs } = this;
    const { slots } = pairs;
    let length = count;
    if (this.bytePairs) this.offerBytes(this.bytePairs, bytes, start, count);
    else for (let i = 0; i + 1 < length; i++) this.offer(i);
    for (;;) {
      let best = 0;
      let bestRank = noRank;
      for (let i = 0; i + 1 < length; i++) {
        const rank = ranks[i] as number;
        if (rank < bestRank) {
          bestRank = rank;
          best = i;
        }
      }
      if (bestRank === noRank) return length;
      symbols[best] = slots[(candidates[best] as number) + 3] as number;
      length--;
      for (let i = best + 1; i < length; i++) {
        symbols[i] = symbols[i + 1] as number;
        candidates[i] = candidates[i + 1] as number;
        ranks[i] = ranks[i + 1] as number;
      }
      if (best > 0) this.offer(best - 1);
      if (best + 1 < length) this.offer(best);
    }
  }

  private offer(at: number): void {
    const found = this.pairs.find(this.symbols[at] as number, this.symbols[at + 1] as number);
    this.candidates[at] = found;
    this.ranks[at] = found < 0 ? noRank : (this.pairs.slots[found + 2] as number);
  }

  /** As `offer` for all neighbours, before anything was merged. */
  private offerBytes(known: Int32Array, bytes: Uint8Array, start: number, count: number): void {
    const { candidates, ranks, byteRanks } = this;
    let key = bytes[start] as number;
    for (let i = 0; i + 1 < count; i++) {
      key = ((key << 8) | (bytes[start + i + 1] as number)) & 0xffff;
      const found = known[key] as number;
      candidates[i] = found === notAsked ? this.findBytes(known, key) : found;
      ranks[i] = byteRanks[key] as number;
    }
  }

  private findBytes(known: Int32Array, key: number): number {
    const { singles } = this.vocabulary;
    const found = this.pairs.find(singles[key >> 8] as number, singles[key & 0xff] as number);
    known[key] = found;
    this.byteRanks[key] = found < 0 ? noRank : (this.pairs.slots[found + 2] as number);
    return found;
  }

  private mergeLong(count: number, check: Checkpoint): number {
    const { symbols, pairs, heap } = this;
    const { slots } = pairs;
    if (this.next.length < count) {
      this.next = new Int32Array(count * 2);
      this.previous = new Int32Array(count * 2);
    }
    const { next, previous } = this;
    heap.clear();
    for (let i = 0; i < count; i++) {
      next[i] = i + 1;
      previous[i] = i - 1;
      if (i + 1 === count) break;
      const found = pairs.find(symbols[i] as number, symbols[i + 1] as number);
      if (found >= 0) heap.push(slots[found + 2] as number, i);
    }
    let merges = 0;
    for (let key = heap.pop(); key >= 0; key = heap.pop()) {
      const at = positionOf(key);
      const right = next[at] as number;
      if (right >= count || right < 0) continue;
      const found = pairs.find(symbols[at] as number, symbols[right] as number);
      if (found < 0 || slots[found + 2] !== rankOf(key)) continue;
      symbols[at] = slots[found + 3] as number;
      const after = next[right] as number;
      next[at] = after;
      next[right] = -1;
      if (after < count) {
        previous[after] = at;
        const joined = pairs.find(symbols[at], symbols[after] as number);
        if (joined >= 0) heap.push(slots[joined + 2] as number, at);
      }
      const before = previous[at] as number;
      if (before >= 0) {
        const joined = pairs.find(symbols[before] as number, symbols[at]);
        if (joined >= 0) heap.push(slots[joined + 2] as number, before);
      }
      if (++merges % mergesPerCheck === 0) check();
    }
    let length = 0;
    for (let at = 0; at < count; at = next[at] as number) symbols[length++] = symbols[at] as number;
    return length;
  }

  /** Tokens of a symbol that is no token; bytes without one disappear, as in llama.cpp. */
  private fallback(symbol: number): readonly number[] {
    const known = this.fallbacks.get(symbol);
    if (known) return known;
    const tokens = fallbackBytes(this.symbolBytes(symbol), this.shape)
      .map((byte) => this.vocabulary.byteTokens[byte] as number)
      .filter((id) => id >= 0);
    this.fallbacks.set(symbol, tokens);
    return tokens;
  }

  private symbolBytes(symbol: number): Uint8Array {
    if (symbol >= 0) {
      return this.strings.buffer.subarray(this.strings.start(symbol), this.strings.end(symbol));
    }
    const bytes = new Uint8Array(4);
    return bytes.subarray(0, writeCodePoint(bytes, 0, -2 - symbol));
  }
}

/** A character no symbol has: it merges with nothing. -1 is left free for "none". */
const unknownSymbol = (code: number): number => -2 - code;
