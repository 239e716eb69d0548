/** FNV-1a over a byte range; `seed` continues an earlier hash, so that a hash of a concatenation can be grown. */
export function hashBytes(bytes: Uint8Array, start: number, end: number, seed = hashSeed): number {
  let hash = seed;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
  return hash;
}

export const hashSeed = 0x811c9dc5 | 0;

/** Open addressing wants the high bits mixed into the low ones. */
const mixHash = (hash: number): number => Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);

/** Plain arrays a table is made of: they can be stored, shared between threads and taken up again. */
export interface ByteStringArrays {
  readonly bytes: Uint8Array;
  readonly used: number;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly count: number;
  /** Index + 1 of the string in a slot, 0 where it is empty. */
  readonly slots: Int32Array;
}

/** Byte strings with a number each, found by content. A number may also be taken without a findable string. */
export class ByteStrings {
  private bytes: Uint8Array;
  private used = 0;
  private starts: Uint32Array;
  private ends: Uint32Array;
  private slots: Int32Array;
  private mask: number;
  private total = 0;

  constructor(expectedStrings: number, expectedBytes: number) {
    const slots = 1 << Math.max(4, 32 - Math.clz32(Math.ceil(expectedStrings * 1.6)));
    this.slots = new Int32Array(slots);
    this.mask = slots - 1;
    this.bytes = new Uint8Array(Math.max(64, expectedBytes));
    this.starts = new Uint32Array(Math.max(16, expectedStrings));
    this.ends = new Uint32Array(Math.max(16, expectedStrings));
  }

  static from(arrays: ByteStringArrays): ByteStrings {
    const table = new ByteStrings(0, 0);
    table.bytes = arrays.bytes;
    table.used = arrays.used;
    table.starts = arrays.starts;
    table.ends = arrays.ends;
    table.total = arrays.count;
    table.slots = arrays.slots;
    table.mask = arrays.slots.length - 1;
    return table;
  }

  arrays(): ByteStringArrays {
    return {
      bytes: this.bytes.slice(0, this.used),
      used: this.used,
      starts: this.starts.slice(0, this.total),
      ends: this.ends.slice(0, this.total),
      count: this.total,
      slots: this.slots,
    };
  }

  get count(): number {
    return this.total;
  }

  /** Number of the string with this content, or -1. `hash` must be `hashBytes` of it. */
  find(from: Uint8Array, start: number, end: number, hash: number): number {
    return (this.slots[this.slotOf(from, start, end, hash)] as number) - 1;
  }

  /** Number of the string with this content, which is taken in where it is not there yet. */
  findOrAdd(from: Uint8Array, start: number, end: number, hash: number): number {
    const slot = this.slotOf(from, start, end, hash);
    const found = (this.slots[slot] as number) - 1;
    if (found >= 0) return found;
    const index = this.append(from, start, end);
    if (this.isCrowded()) this.growSlots();
    else this.slots[slot] = index + 1;
    return index;
  }

  /** The slot of the string with this content, or the empty one where it belongs. */
  private slotOf(from: Uint8Array, start: number, end: number, hash: number): number {
    const { slots, mask, starts, ends, bytes } = this;
    const length = end - start;
    for (let slot = mixHash(hash) & mask; ; slot = (slot + 1) & mask) {
      const index = (slots[slot] as number) - 1;
      if (index < 0) return slot;
      const at = starts[index] as number;
      if ((ends[index] as number) - at !== length) continue;
      let i = 0;
      while (i < length && bytes[at + i] === from[start + i]) i++;
      if (i === length) return slot;
    }
  }

  /** Whether the string of that number has this content. */
  is(index: number, from: Uint8Array, start: number, end: number): boolean {
    if (index < 0 || index >= this.total) return false;
    const { bytes } = this;
    const at = this.start(index);
    const length = end - start;
    if (this.end(index) - at !== length) return false;
    for (let i = 0; i < length; i++) if (bytes[at + i] !== from[start + i]) return false;
    return true;
  }

  /** Takes the next number for a string that `find` does not find. */
  append(from: Uint8Array, start: number, end: number): number {
    const length = end - start;
    this.reserve(length);
    for (let i = 0; i < length; i++) this.bytes[this.used + i] = from[start + i] as number;
    const index = this.total++;
    this.starts[index] = this.used;
    this.used += length;
    this.ends[index] = this.used;
    return index;
  }

  start(index: number): number {
    return this.starts[index] as number;
  }

  end(index: number): number {
    return this.ends[index] as number;
  }

  get buffer(): Uint8Array {
    return this.bytes;
  }

  private isCrowded(): boolean {
    return (this.total + 1) * 5 > this.slots.length * 4;
  }

  /** Makes room and takes in the string that was appended last. */
  private growSlots(): void {
    const old = this.slots;
    this.slots = new Int32Array(old.length * 2);
    this.mask = this.slots.length - 1;
    for (const taken of old) if (taken !== 0) this.place(taken);
    this.place(this.total);
  }

  private place(taken: number): void {
    const hash = hashBytes(this.bytes, this.start(taken - 1), this.end(taken - 1));
    let slot = mixHash(hash) & this.mask;
    while (this.slots[slot] !== 0) slot = (slot + 1) & this.mask;
    this.slots[slot] = taken;
  }

  private reserve(length: number): void {
    if (this.used + length > this.bytes.length) {
      const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.used + length));
      grown.set(this.bytes.subarray(0, this.used));
      this.bytes = grown;
    }
    if (this.total < this.starts.length) return;
    const starts = new Uint32Array(this.starts.length * 2);
    starts.set(this.starts);
    this.starts = starts;
    const ends = new Uint32Array(this.ends.length * 2);
    ends.set(this.ends);
    this.ends = ends;
  }
}
