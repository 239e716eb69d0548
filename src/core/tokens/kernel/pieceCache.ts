import { hashBytes } from "./byteStrings";

const maxEntries = 1 << 19;
const maxBytes = 1 << 24;
/** Longer pieces rarely come twice. */
export const longestCachedPiece = 128;

/** Pieces up to this length are their own key. */
const packed = 8;

/**
 * Token counts of pieces already seen, by content. Bounded: when it is full it starts over.
 * Four numbers per slot: two of key, length and count (0 where the slot is empty), start of the content. The key of a
 * short piece is its bytes, of a longer one a hash; then the content is compared.
 */
export class PieceCache {
  private bytes = new Uint8Array(1 << 16);
  private used = 0;
  private entries = 0;
  private slots = new Int32Array(4 << 12);
  private mask = (1 << 12) - 1;
  /** Key of the piece asked for last, for `add`. */
  private first = 0;
  private second = 0;

  /** Tokens of a piece, or 0 where it is not known. */
  find(from: Uint8Array, start: number, end: number): number {
    const length = end - start;
    let first = from[start] as number;
    let second = 0;
    if (length <= packed) {
      // bytes behind the piece may be read; they do not get into the key
      if (length > 1) first |= (from[start + 1] as number) << 8;
      if (length > 2) first |= (from[start + 2] as number) << 16;
      if (length > 3) first |= (from[start + 3] as number) << 24;
      if (length > 4) second = from[start + 4] as number;
      if (length > 5) second |= (from[start + 5] as number) << 8;
      if (length > 6) second |= (from[start + 6] as number) << 16;
      if (length > 7) second |= (from[start + 7] as number) << 24;
    } else {
      first = hashBytes(from, start, end);
      second = length;
    }
    this.first = first;
    this.second = second;
    const { slots, mask } = this;
    for (let at = slotOf(first, second) & mask; ; at = (at + 1) & mask) {
      const i = at << 2;
      const known = slots[i + 2] as number;
      if (known === 0) return 0;
      if (slots[i] !== first || slots[i + 1] !== second || (known & 0xff) !== length) continue;
      if (length <= packed || this.isAt(slots[i + 3] as number, from, start, length)) return known >>> 8;
    }
  }

  /** Keeps the count of the piece that `find` was asked for last. */
  add(from: Uint8Array, start: number, end: number, count: number): void {
    const length = end - start;
    if (this.entries >= maxEntries || this.used + length > maxBytes) this.clear();
    if (this.entries * 4 > this.mask * 3) this.grow();
    let content = 0;
    if (length > packed) {
      content = this.used;
      if (content + length > this.bytes.length) {
        const grown = new Uint8Array(this.bytes.length * 2);
        grown.set(this.bytes);
        this.bytes = grown;
      }
      for (let i = 0; i < length; i++) this.bytes[content + i] = from[start + i] as number;
      this.used += length;
    }
    this.entries++;
    this.place(this.first, this.second, length | (count << 8), content);
  }

  private isAt(content: number, from: Uint8Array, start: number, length: number): boolean {
    const { bytes } = this;
    for (let i = 0; i < length; i++) if (bytes[content + i] !== from[start + i]) return false;
    return true;
  }

  private place(first: number, second: number, known: number, content: number): void {
    const { slots, mask } = this;
    let at = slotOf(first, second) & mask;
    while (slots[(at << 2) + 2] !== 0) at = (at + 1) & mask;
    const i = at << 2;
    slots[i] = first;
    slots[i + 1] = second;
    slots[i + 2] = known;
    slots[i + 3] = content;
  }

  private grow(): void {
    const old = this.slots;
    this.slots = new Int32Array(old.length * 2);
    this.mask = this.mask * 2 + 1;
    for (let i = 0; i < old.length; i += 4) {
      const known = old[i + 2] as number;
      if (known !== 0) this.place(old[i] as number, old[i + 1] as number, known, old[i + 3] as number);
    }
  }

  private clear(): void {
    this.slots.fill(0);
    this.used = 0;
    this.entries = 0;
  }
}

function slotOf(first: number, second: number): number {
  const mixed = Math.imul(first, 0x9e3779b1 | 0) ^ Math.imul(second, 0x85ebca6b | 0);
  return mixed ^ (mixed >>> 15);
}
