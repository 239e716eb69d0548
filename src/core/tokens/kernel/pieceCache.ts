import { mixHash } from "./byteStrings";

const maxEntries = 1 << 19;
const maxBytes = 1 << 24;
/** Longer pieces rarely come twice. */
export const longestCachedPiece = 128;

/** Token counts of pieces already seen, by content. Bounded: when it is full it starts over. */
export class PieceCache {
  private bytes = new Uint8Array(1 << 16);
  private used = 0;
  private entries = 0;
  /** Three numbers per slot: hash, start of the content, length and count (0 where the slot is empty). */
  private slots = new Int32Array(3 << 12);
  private mask = (1 << 12) - 1;

  /** Tokens of a piece, or 0 where it is not known. */
  find(from: Uint8Array, start: number, length: number, hash: number): number {
    const { slots, mask, bytes } = this;
    for (let at = mixHash(hash) & mask; ; at = (at + 1) & mask) {
      const i = at * 3;
      const packed = slots[i + 2] as number;
      if (packed === 0) return 0;
      if (slots[i] !== hash || (packed & 0xff) !== length) continue;
      const content = slots[i + 1] as number;
      let k = 0;
      while (k < length && bytes[content + k] === from[start + k]) k++;
      if (k === length) return packed >>> 8;
    }
  }

  add(from: Uint8Array, start: number, length: number, hash: number, count: number): void {
    if (this.entries >= maxEntries || this.used + length > maxBytes) this.clear();
    if (this.entries * 2 > this.mask) this.grow();
    if (this.used + length > this.bytes.length) {
      const grown = new Uint8Array(this.bytes.length * 2);
      grown.set(this.bytes);
      this.bytes = grown;
    }
    const content = this.used;
    for (let i = 0; i < length; i++) this.bytes[content + i] = from[start + i] as number;
    this.used += length;
    this.entries++;
    this.place(hash, content, length | (count << 8));
  }

  private place(hash: number, content: number, packed: number): void {
    let at = mixHash(hash) & this.mask;
    while (this.slots[at * 3 + 2] !== 0) at = (at + 1) & this.mask;
    this.slots[at * 3] = hash;
    this.slots[at * 3 + 1] = content;
    this.slots[at * 3 + 2] = packed;
  }

  private grow(): void {
    const old = this.slots;
    this.slots = new Int32Array(old.length * 2);
    this.mask = this.mask * 2 + 1;
    for (let i = 0; i < old.length; i += 3) {
      const packed = old[i + 2] as number;
      if (packed !== 0) this.place(old[i] as number, old[i + 1] as number, packed);
    }
  }

  private clear(): void {
    this.slots.fill(0);
    this.used = 0;
    this.entries = 0;
  }
}
