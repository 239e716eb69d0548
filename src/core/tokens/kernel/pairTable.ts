/** Open-addressing table from a pair of symbols to the rank and the result of its merge. */
export class PairTable {
  private readonly mask: number;

  /** Four numbers per slot: left, right, rank, result. An empty slot has left -1. */
  constructor(readonly slots: Int32Array) {
    this.mask = slots.length / 4 - 1;
  }

  static forMerges(count: number): PairTable {
    const size = 1 << Math.max(4, 32 - Math.clz32(Math.ceil(count * 1.5)));
    const slots = new Int32Array(size * 4);
    for (let i = 0; i < slots.length; i += 4) slots[i] = -1;
    return new PairTable(slots);
  }

  /** Position of a pair's slot in `slots`, or -1. */
  find(left: number, right: number): number {
    const { slots, mask } = this;
    for (let at = pairHash(left, right) & mask; ; at = (at + 1) & mask) {
      const i = at << 2;
      const found = slots[i] as number;
      if (found === -1) return -1;
      if (found === left && slots[i + 1] === right) return i;
    }
  }

  /** The first rank given to a pair stays. */
  add(left: number, right: number, rank: number, result: number): void {
    if (this.find(left, right) >= 0) return;
    const { slots, mask } = this;
    let at = pairHash(left, right) & mask;
    while (slots[at << 2] !== -1) at = (at + 1) & mask;
    slots.set([left, right, rank, result], at << 2);
  }
}

function pairHash(left: number, right: number): number {
  const mixed = Math.imul(left, 0x9e3779b1 | 0) ^ Math.imul(right, 0x85ebca6b | 0);
  return mixed ^ (mixed >>> 15);
}
