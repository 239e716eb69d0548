import { codePointAt, utf8Width } from "../unicode/utf8";

const bitCount = 1 << 22;

/**
 * Pairs of neighbouring characters that some merge can join. Between two characters that are not such a pair no token
 * can ever span, so the text may be cut there and each part tokenized alone. False positives only mean fewer cuts.
 */
export class Junctions {
  constructor(readonly bits: Uint32Array = new Uint32Array(bitCount / 32)) {}

  add(left: number, right: number): void {
    const bit = bitOf(left, right);
    this.bits[bit >>> 5] = (this.bits[bit >>> 5] as number) | (1 << (bit & 31));
  }

  has(left: number, right: number): boolean {
    const bit = bitOf(left, right);
    return ((this.bits[bit >>> 5] as number) & (1 << (bit & 31))) !== 0;
  }

  /** Adds every neighbouring pair inside a text. */
  addInside(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    if (at >= end) return;
    let left = codePointAt(bytes, at);
    at += utf8Width(bytes[at] as number);
    while (at < end) {
      const right = codePointAt(bytes, at);
      this.add(left, right);
      left = right;
      at += utf8Width(bytes[at] as number);
    }
  }

  /** The next place after `from` where the text may be cut, at most `end`. */
  next(bytes: Uint8Array, from: number, end: number): number {
    let left = codePointAt(bytes, from);
    let at = from + utf8Width(bytes[from] as number);
    while (at < end) {
      const right = codePointAt(bytes, at);
      if (!this.has(left, right)) return at;
      left = right;
      at += utf8Width(bytes[at] as number);
    }
    return end;
  }
}

/** ASCII pairs have a bit of their own; the others share the rest. */
function bitOf(left: number, right: number): number {
  if ((left | right) < 0x80) return (left << 7) | right;
  const mixed = Math.imul(left, 0x9e3779b1 | 0) ^ Math.imul(right, 0x85ebca6b | 0);
  return 0x4000 + (((mixed ^ (mixed >>> 15)) >>> 0) % (bitCount - 0x4000));
}
