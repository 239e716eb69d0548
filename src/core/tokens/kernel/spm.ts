import { packedCount, type TokenizerSpec } from "../../model/tokenizerSpec";
import { hexToken, readEscaped, latin1Of } from "./bpeVocabulary";
import { duplicateToken, noByteToken } from "./brokenVocabulary";
import { ByteStrings, hashBytes, hashSeed, type ByteStringArrays } from "./byteStrings";
import { betweenJunctions, type LastCut } from "../preTokenizers/cuts";
import { blanksForEscapes, escapesForBlanks } from "../preTokenizers/escapes";
import { Junctions } from "../preTokenizers/junctions";
import { MergeHeap, positionOf, rankOf } from "./mergeHeap";
import { longestCachedPiece, PieceCache } from "./pieceCache";
import { blank } from "../preTokenizers/scanner";
import {
  piecesPerCheck,
  type Checkpoint,
  type TextTokenizer,
  type TokenSink,
  type TokenWork,
} from "./tokenSink";
import { utf8Width } from "../unicode/utf8";

/** A SentencePiece vocabulary in plain arrays. */
export interface SpmVocabulary {
  readonly strings: ByteStringArrays;
  /** Place of a token in the order of merges: equal scores share one. */
  readonly ranks: Int32Array;
  readonly junctions: Uint32Array;
  /** Token of a byte: `<0xXX>`, else the byte's own; -1 where there is none. */
  readonly byteTokens: Int32Array;
}

export function buildSpmVocabulary(spec: TokenizerSpec): SpmVocabulary {
  const { tokens } = spec;
  const count = packedCount(tokens);
  const strings = new ByteStrings(count, tokens.bytes.length);
  const junctions = new Junctions();
  const hexTokens = new Int32Array(256).fill(-1);
  const ownTokens = new Int32Array(256).fill(-1);
  const unreachable = new Set<string>();
  let scratch = new Uint8Array(4096);
  for (let id = 0; id < count; id++) {
    const start = tokens.starts[id] as number;
    const end = tokens.ends[id] as number;
    if (end - start > scratch.length) scratch = new Uint8Array((end - start) * 2);
    const byte = hexToken(tokens.bytes, start, end);
    if (byte >= 0) hexTokens[byte] = id;
    if (end - start === 1) ownTokens[tokens.bytes[start] as number] = id;
    const length = readEscaped(tokens.bytes, start, end, scratch, 0);
    if (length < 0) {
      const text = latin1Of(tokens.bytes, start, end);
      if (unreachable.has(text)) throw duplicateToken(tokens.bytes.subarray(start, end));
      unreachable.add(text);
      strings.append(scratch, 0, 0);
      continue;
    }
    const hash = hashBytes(scratch, 0, length);
    if (strings.findOrAdd(scratch, 0, length, hash) !== id) {
      throw duplicateToken(tokens.bytes.subarray(start, end));
    }
    junctions.addInside(scratch, 0, length);
  }
  return {
    strings: strings.arrays(),
    ranks: ranksOf(spec.scores, count),
    junctions: junctions.bits,
    byteTokens: hexTokens.map((id, byte) => (id >= 0 ? id : (ownTokens[byte] as number))),
  };
}

/**
 * The same vocabulary with its blanks spelled out again. Only text that is not well-formed needs it: there a broken
 * character swallows bytes of the spelling.
 */
export function spelledOut(vocabulary: SpmVocabulary): SpmVocabulary {
  const compact = ByteStrings.from(vocabulary.strings);
  const strings = new ByteStrings(compact.count, compact.buffer.length * 2);
  const junctions = new Junctions();
  for (let id = 0; id < compact.count; id++) {
    const text = escapesForBlanks(compact.buffer, compact.start(id), compact.end(id), false);
    if (text.end === 0) strings.append(text.bytes, 0, 0);
    else strings.findOrAdd(text.bytes, 0, text.end, hashBytes(text.bytes, 0, text.end));
    junctions.addInside(text.bytes, 0, text.end);
  }
  return { ...vocabulary, strings: strings.arrays(), junctions: junctions.bits };
}

/** Equal scores share a rank; the best score has rank 0. */
function ranksOf(scores: Float32Array | undefined, count: number): Int32Array {
  const ranks = new Int32Array(count);
  if (!scores) return ranks;
  // a score as an integer of the same order, with the id behind it: typed arrays sort numbers at native speed
  const bits = new Int32Array(scores.slice(0, count).buffer);
  const keys = new Float64Array(count);
  for (let id = 0; id < count; id++) {
    const each = bits[id] as number;
    const ordered = each < 0 ? -(each & 0x7fffffff) : each;
    keys[id] = ordered * idRange + id;
  }
  keys.sort();
  let rank = -1;
  let last = Number.NaN;
  for (let i = count - 1; i >= 0; i--) {
    const key = keys[i] as number;
    const score = Math.floor(key / idRange);
    if (score !== last) rank++;
    last = score;
    ranks[key - score * idRange] = rank;
  }
  return ranks;
}

const idRange = 1 << 21;

/** Symbols up to this many are merged by scanning for the best pair. */
const shortPiece = 48;
const mergesPerCheck = 1 << 16;
const hashedPerCheck = 1 << 18;
const blankAsEscape = [0xe2, 0x96, 0x81];

/** SentencePiece's greedy merging: the neighbouring symbols whose text is the best token, until none is. */
export class SpmTokenizer implements TextTokenizer {
  private readonly strings: ByteStrings;
  private readonly junctions: Junctions;
  private readonly cache = new PieceCache();
  private readonly heap = new MergeHeap();
  private readonly longestToken: number;
  readonly lastCut: LastCut;
  /** Where symbols start, and what the pair of each with its right neighbour makes (-1: no token). */
  private starts = new Int32Array(256);
  /** Bytes that were read since the last checkpoint to find tokens. */
  private hashed = 0;
  private pairs = new Int32Array(256);
  private next = new Int32Array(0);
  private previous = new Int32Array(0);

  /** `spelled`: text and vocabulary spell blanks as U+2581 (see `spelledOut`). */
  constructor(
    private readonly vocabulary: SpmVocabulary,
    private readonly addSpacePrefix: boolean,
    private readonly spelled = false,
  ) {
    this.strings = ByteStrings.from(vocabulary.strings);
    this.junctions = new Junctions(vocabulary.junctions);
    this.lastCut = betweenJunctions(this.junctions);
    let longest = 0;
    for (let i = 0; i < this.strings.count; i++) {
      longest = Math.max(longest, this.strings.end(i) - this.strings.start(i));
    }
    this.longestToken = longest;
  }

  tokenize(bytes: Uint8Array, start: number, end: number, after: boolean, work: TokenWork): number {
    const { check, sink } = work;
    const text = this.prepare(bytes, start, end, after);
    let tokens = 0;
    let pieces = 0;
    for (let at = text.start; at < text.end;) {
      const stop = this.junctions.next(text.bytes, at, text.end);
      tokens += sink
        ? this.encodePiece(text.bytes, at, stop, check, sink)
        : this.countPiece(text.bytes, at, stop, check);
      at = stop;
      if (++pieces % piecesPerCheck === 0) check();
    }
    return tokens;
  }

  private prepare(bytes: Uint8Array, start: number, end: number, after: boolean) {
    const prefix = this.addSpacePrefix && after;
    if (this.spelled) return escapesForBlanks(bytes, start, end, prefix);
    const text = blanksForEscapes(bytes, start, end, prefix ? 1 : 0);
    if (!prefix) return text;
    text.bytes[0] = blank;
    return { ...text, start: 0 };
  }

  private tell(check: Checkpoint): void {
    check(this.hashed);
    this.hashed = 0;
  }

  private symbolStart(index: number): number {
    return this.starts[index] as number;
  }

  private countPiece(bytes: Uint8Array, start: number, end: number, check: Checkpoint): number {
    const cached = end - start <= longestCachedPiece;
    const known = cached ? this.cache.find(bytes, start, end) : 0;
    if (known > 0) return known;
    const tokens = this.encodePiece(bytes, start, end, check);
    if (cached) this.cache.add(bytes, start, end, tokens);
    return tokens;
  }

  private encodePiece(
    bytes: Uint8Array,
    start: number,
    end: number,
    check: Checkpoint,
    sink?: TokenSink,
  ): number {
    const symbols = this.merge(bytes, start, end, check);
    let tokens = 0;
    for (let i = 0; i < symbols; i++)
      tokens += this.emit(bytes, this.symbolStart(i), this.symbolStart(i + 1), sink);
    if (this.hashed > hashedPerCheck) this.tell(check);
    return tokens;
  }

  private emit(bytes: Uint8Array, from: number, to: number, sink: TokenSink | undefined): number {
    const token = this.tokenOf(bytes, from, to);
    if (token >= 0) {
      sink?.push(token);
      return 1;
    }
    const spelled = this.fallback(bytes, from, to);
    if (sink) for (const id of spelled) sink.push(id);
    return spelled.length;
  }

  private tokenOf(bytes: Uint8Array, start: number, end: number): number {
    if (end - start > this.longestToken) return -1;
    this.hashed += end - start;
    return this.strings.find(bytes, start, end, hashBytes(bytes, start, end, hashSeed));
  }

  private fallback(bytes: Uint8Array, start: number, end: number): number[] {
    return Array.from(bytes.subarray(start, end)).flatMap((byte) =>
      (byte === blank ? blankAsEscape : [byte]).map((each) => {
        const id = this.vocabulary.byteTokens[each] as number;
        if (id < 0) throw noByteToken(each);
        return id;
      }),
    );
  }

  /** Leaves the starts of the symbols (and the end) in `starts` and returns how many symbols there are. */
  private merge(bytes: Uint8Array, start: number, end: number, check: Checkpoint): number {
    if (end - start + 1 > this.starts.length) {
      this.starts = new Int32Array((end - start + 1) * 2);
      this.pairs = new Int32Array((end - start + 1) * 2);
    }
    let count = 0;
    for (let at = start; at < end; at += utf8Width(bytes[at] as number)) this.starts[count++] = at;
    this.starts[count] = end;
    if (count < 2) return count;
    return count <= shortPiece ? this.mergeShort(bytes, count) : this.mergeLong(bytes, count, check);
  }

  private mergeShort(bytes: Uint8Array, count: number): number {
    const { starts, pairs } = this;
    const { ranks } = this.vocabulary;
    let length = count;
    for (let i = 0; i + 1 < length; i++) {
      pairs[i] = this.tokenOf(bytes, starts[i] as number, starts[i + 2] as number);
    }
    for (;;) {
      let best = -1;
      let bestRank = 0x7fffffff;
      for (let i = 0; i + 1 < length; i++) {
        const pair = pairs[i] as number;
        if (pair < 0) continue;
        const rank = ranks[pair] as number;
        if (rank < bestRank) {
          bestRank = rank;
          best = i;
        }
      }
      if (best < 0) return length;
      length--;
      for (let i = best + 1; i <= length; i++) {
        starts[i] = starts[i + 1] as number;
        pairs[i] = pairs[i + 1] as number;
      }
      if (best > 0) {
        pairs[best - 1] = this.tokenOf(bytes, starts[best - 1] as number, starts[best + 1] as number);
      }
      if (best + 1 < length) {
        pairs[best] = this.tokenOf(bytes, starts[best] as number, starts[best + 2] as number);
      }
    }
  }

  private mergeLong(bytes: Uint8Array, count: number, check: Checkpoint): number {
    const { starts, heap } = this;
    const { ranks } = this.vocabulary;
    if (this.next.length < count + 1) {
      this.next = new Int32Array(count * 2);
      this.previous = new Int32Array(count * 2);
    }
    const { next, previous } = this;
    const endOf = (symbol: number) => starts[next[symbol] as number] as number;
    const offer = (left: number, right: number) => {
      const token = this.tokenOf(bytes, starts[left] as number, endOf(right));
      if (token >= 0) heap.push(ranks[token] as number, left);
    };
    heap.clear();
    for (let i = 0; i < count; i++) {
      next[i] = i + 1;
      previous[i] = i - 1;
    }
    for (let i = 0; i + 1 < count; i++) offer(i, i + 1);
    let merges = 0;
    for (let key = heap.pop(); key >= 0; key = heap.pop()) {
      const at = positionOf(key);
      const right = next[at] as number;
      if (right >= count || right < 0) continue;
      const token = this.tokenOf(bytes, starts[at] as number, endOf(right));
      if (token < 0 || ranks[token] !== rankOf(key)) continue;
      const after = next[right] as number;
      next[at] = after;
      next[right] = -1;
      if (after < count) {
        previous[after] = at;
        offer(at, after);
      }
      const before = previous[at] as number;
      if (before >= 0) offer(before, at);
      if (++merges % mergesPerCheck === 0 || this.hashed > hashedPerCheck) this.tell(check);
    }
    let length = 0;
    const end = starts[count] as number;
    for (let at = 0; at < count; at = next[at] as number) starts[length++] = starts[at] as number;
    starts[length] = end;
    return length;
  }
}
