/** A table of pairs in plain arrays. */
export interface PairArrays {
  /** Four numbers per slot: left, right, rank, result. An empty slot has left -1. */
  readonly slots: Int32Array;
  /** A bit for every pair in the table, small enough to stay near: most pairs that are asked for do not merge. */
  readonly filter: Uint32Array;
}

/** Open-addressing table from a pair of symbols to the rank and the result of its merge. */
export class PairTable implements PairArrays {
  readonly slots: Int32Array;
  readonly filter: Uint32Array;
  private readonly mask: number;
  private readonly filterShift: number;

  constructor({ slots, filter }: PairArrays) {
    this.slots = slots;
    this.filter = filter;
    this.mask = slots.length / 4 - 1;
    this.filterShift = Math.clz32(filter.length * 32) + 1;
  }

  static forMerges(count: number): PairTable {
    const sizeBits = Math.max(4, 32 - Math.clz32(Math.ceil(count * 1.5)));
    const slots = new Int32Array(4 << sizeBits);
    for (let i = 0; i < slots.length; i += 4) slots[i] = -1;
    return new PairTable({ slots, filter: new Uint32Array((1 << Math.min(24, sizeBits + 2)) >>> 5) });
  }

  /** Position of a pair's slot in `slots`, or -1. */
  find(left: number, right: number): number {
    const hash = pairHash(left, right);
    const bit = Math.imul(hash, filterFactor) >>> this.filterShift;
    if (((this.filter[bit >>> 5] as number) & (1 << (bit & 31))) === 0) return -1;
    const { slots, mask } = this;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const i = at << 2;
      const found = slots[i] as number;
      if (found === -1) return -1;
      if (found === left && slots[i + 1] === right) return i;
    }
  }

  /** The first rank given to a pair stays. */
  add(left: number, right: number, rank: number, result: number): void {
    const { slots, mask } = this;
    const hash = pairHash(left, right);
    let i = (hash & mask) << 2;
    while (slots[i] !== -1) {
      if (slots[i] === left && slots[i + 1] === right) return;
      i = (i + 4) & (slots.length - 1);
    }
    this.mark(hash);
    slots[i] = left;
    slots[i + 1] = right;
    slots[i + 2] = rank;
    slots[i + 3] = result;
  }

  private mark(hash: number): void {
    const bit = Math.imul(hash, filterFactor) >>> this.filterShift;
    this.filter[bit >>> 5] = (this.filter[bit >>> 5] as number) | (1 << (bit & 31));
  }
}

const filterFactor = 0x2c1b3c6d;

function pairHash(left: number, right: number): number {
  const mixed = Math.imul(left, 0x9e3779b1 | 0) ^ Math.imul(right, 0x85ebca6b | 0);
  return mixed ^ (mixed >>> 15);
}
