import type { PackedStrings } from "../../model/tokenizerSpec";
import type { SpecialTokens } from "./compiledVocabulary";
import { ByteTrie } from "./byteTrie";
import { attribute } from "./specialTokens";
import type { Checkpoint } from "./tokenSink";

/** A part of a text: a special token, or plain text between two (`token` -1). */
export type Part = (token: number, start: number, end: number) => void;

/**
 * Cuts texts of special tokens out. llama.cpp goes through the tokens from the longest to the shortest and cuts every
 * occurrence of each in what is left, from left to right. Occurrences that overlap no other are cut in one pass here;
 * only where several overlap are the rules played through.
 */
export class SpecialPartition {
  private readonly trie = new ByteTrie();
  /** First two bytes of the tokens: few places in a text get past them. */
  private readonly beginnings = new Uint8Array(1 << 16);
  /** The byte all tokens begin with, or -1. */
  private readonly onlyFirst: number;
  private readonly strips: boolean;
  /** Length of the longest token. */
  readonly longest: number;

  private readonly tokens: PackedStrings;

  /** `indexes`: which of the special tokens are looked for. */
  constructor(
    private readonly specials: SpecialTokens,
    indexes: readonly number[],
  ) {
    const tokens = specials.texts;
    this.tokens = tokens;
    let longest = 0;
    const firstBytes = new Set<number>();
    for (const index of indexes) {
      const start = tokens.starts[index] as number;
      const end = tokens.ends[index] as number;
      if (end === start) continue;
      this.trie.insert(tokens.bytes, start, end, index);
      firstBytes.add(tokens.bytes[start] as number);
      const first = (tokens.bytes[start] as number) << 8;
      if (end - start === 1) this.beginnings.fill(1, first, first + 256);
      else this.beginnings[first | (tokens.bytes[start + 1] as number)] = 1;
      longest = Math.max(longest, end - start);
    }
    this.longest = longest;
    this.onlyFirst = firstBytes.size === 1 ? (firstBytes.values().next().value ?? -1) : -1;
    this.strips = indexes.some((index) => ((specials.attributes[index] as number) & strip) !== 0);
  }

  cut(bytes: Uint8Array, start: number, end: number, part: Part, check: Checkpoint): void {
    if (this.longest === 0) {
      if (end > start) part(-1, start, end);
    } else if (this.strips) this.play(bytes, start, end, part, check);
    else this.scan(bytes, start, end, part, check);
  }

  /** Whether a token's text starts before `at` and ends after it. */
  crosses(bytes: Uint8Array, at: number, end: number, check: Checkpoint): boolean {
    this.walked = 0;
    for (let from = Math.max(0, at - this.longest); from < at; from++) {
      if (from + this.longestAt(bytes, from, end).length > at) return true;
      if (this.walked > walkedPerCheck) this.tell(check);
    }
    this.tell(check);
    return false;
  }

  private tell(check: Checkpoint): void {
    check(this.walked);
    this.walked = 0;
  }

  get eatsBlanks(): boolean {
    return this.strips;
  }

  private scan(bytes: Uint8Array, start: number, end: number, part: Part, check: Checkpoint): void {
    this.walked = 0;
    const { beginnings } = this;
    let plain = start;
    // plain text at the ends of overlapping tokens belongs to the text around them
    const token: Part = (id, from, to) => {
      if (id < 0) return;
      if (from > plain) part(-1, plain, from);
      part(id, from, to);
      plain = to;
    };
    for (let at = this.candidate(bytes, start, end); at < end; at = this.candidate(bytes, at + 1, end)) {
      const first = this.longestAt(bytes, at, end);
      if (this.walked > walkedPerCheck) this.tell(check);
      if (first.length === 0) continue;
      let stop = at + first.length;
      const index = first.token;
      let overlapping = false;
      for (let inside = at + 1; inside < stop; inside++) {
        if (this.walked > walkedPerCheck) this.tell(check);
        if (beginnings[((bytes[inside] as number) << 8) | (bytes[inside + 1] ?? 0)] === 0) continue;
        const reach = inside + this.longestAt(bytes, inside, end).length;
        if (reach > stop) {
          stop = reach;
          overlapping = true;
        }
      }
      this.tell(check);
      if (overlapping) this.play(bytes, at, stop, token, check);
      else token(this.specials.ids[index] as number, at, stop);
      at = stop - 1;
    }
    if (end > plain) part(-1, plain, end);
  }

  /** The next place where a token may begin, or `end`. */
  private candidate(bytes: Uint8Array, from: number, end: number): number {
    return this.onlyFirst >= 0 ? this.nextOnlyFirst(bytes, from, end) : this.nextPair(bytes, from, end);
  }

  private nextOnlyFirst(bytes: Uint8Array, from: number, end: number): number {
    const { beginnings, onlyFirst } = this;
    const row = onlyFirst << 8;
    for (let at = from; at < end; at++) {
      // the native search is fastest where the byte is rare, a loop where it is not
      const near = Math.min(end, at + 32);
      while (at < near && bytes[at] !== onlyFirst) at++;
      if (at === near) {
        at = near < end ? bytes.indexOf(onlyFirst, near) : -1;
        if (at < 0 || at >= end) return end;
      }
      if (beginnings[row | (bytes[at + 1] ?? 0)] !== 0) return at;
    }
    return end;
  }

  private nextPair(bytes: Uint8Array, from: number, end: number): number {
    const { beginnings } = this;
    const last = end - 1;
    if (from > last) return end;
    let pair = bytes[from] as number;
    for (let at = from; at < last; at++) {
      pair = ((pair << 8) | (bytes[at + 1] as number)) & 0xffff;
      if (beginnings[pair] !== 0) return at;
    }
    return beginnings[(bytes[last] as number) << 8] !== 0 ? last : end;
  }

  private readonly found = { token: -1, length: 0 };
  /** Bytes that were compared since the last checkpoint. */
  private walked = 0;

  private longestAt(bytes: Uint8Array, at: number, end: number): { token: number; length: number } {
    const { trie, found } = this;
    found.length = 0;
    let node = 0;
    let i = at;
    for (; i < end; i++) {
      node = trie.child(node, bytes[i] as number);
      if (node < 0) break;
      const token = trie.value(node);
      if (token >= 0) {
        found.token = token;
        found.length = i + 1 - at;
      }
    }
    this.walked += i - at;
    return found;
  }

  private play(bytes: Uint8Array, start: number, end: number, part: Part, check: Checkpoint): void {
    let parts: Piece[] = end > start ? [{ token: -1, start, end }] : [];
    for (const id of this.present(bytes, start, end, check)) {
      check(end - start);
      parts = parts.flatMap((piece) => (piece.token < 0 ? this.cutOne(bytes, piece, id) : [piece]));
    }
    for (const piece of parts) {
      part(piece.token < 0 ? -1 : (this.specials.ids[piece.token] as number), piece.start, piece.end);
    }
  }

  /** Tokens that occur in a range, longest first, then by id. */
  private present(bytes: Uint8Array, start: number, end: number, check: Checkpoint): number[] {
    const ids = new Set<number>();
    for (let at = start; at < end; at++) {
      let node = 0;
      let i = at;
      for (; i < end; i++) {
        node = this.trie.child(node, bytes[i] as number);
        if (node < 0) break;
        if (this.trie.value(node) >= 0) ids.add(this.trie.value(node));
      }
      this.walked += i - at;
      if (this.walked > walkedPerCheck) this.tell(check);
    }
    return [...ids].sort((a, b) => this.lengthOf(b) - this.lengthOf(a) || a - b);
  }

  private cutOne(bytes: Uint8Array, piece: Piece, id: number): Piece[] {
    const length = this.lengthOf(id);
    const bits = this.specials.attributes[id] as number;
    const out: Piece[] = [];
    let { start } = piece;
    for (let at = start; at + length <= piece.end;) {
      if (!this.isAt(bytes, at, id)) {
        at++;
        continue;
      }
      let before = at;
      if ((bits & attribute.leftStrip) !== 0) {
        while (before > start && isBlank(bytes[before - 1] as number)) before--;
      }
      if (before > start) out.push({ token: -1, start, end: before });
      out.push({ token: id, start: at, end: at + length });
      start = at + length;
      if ((bits & attribute.rightStrip) !== 0) {
        while (start < piece.end && isBlank(bytes[start] as number)) start++;
      }
      at = start;
    }
    if (start < piece.end) out.push({ token: -1, start, end: piece.end });
    return out;
  }

  private lengthOf(id: number): number {
    return (this.tokens.ends[id] as number) - (this.tokens.starts[id] as number);
  }

  private isAt(bytes: Uint8Array, at: number, id: number): boolean {
    const from = this.tokens.starts[id] as number;
    for (let i = 0; i < this.lengthOf(id); i++) {
      if (bytes[at + i] !== this.tokens.bytes[from + i]) return false;
    }
    return true;
  }
}

const walkedPerCheck = 1 << 20;

interface Piece {
  readonly token: number;
  readonly start: number;
  readonly end: number;
}

const strip = attribute.leftStrip | attribute.rightStrip;

/** C's `isspace`. */
const isBlank = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
