const mask = 2n ** 64n - 1n;

/** One step of splitmix64: well mixed 64 bits from any 64 bits. */
function mix(value: bigint): bigint {
  let z = (value + 0x9e3779b97f4a7c15n) & mask;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask;
  return z ^ (z >> 31n);
}

/** Numbers that follow from a plan's seed and a purpose; the same on every machine. */
export class LadderRandom {
  #state: number;

  constructor(seed: string, ...purpose: readonly (string | number)[]) {
    let hash = mix(BigInt(seed));
    for (const character of purpose.join("/")) {
      hash = mix(hash ^ BigInt(character.codePointAt(0) ?? 0));
    }
    this.#state = Number(hash & 0xffffffffn);
  }

  /** 0 ≤ x < 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** 0 ≤ n < limit, whole. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** `values` must not be empty. */
  pick(values: readonly string[]): string {
    return values[this.below(values.length)] ?? "";
  }

  shuffled<T>(values: readonly T[]): readonly T[] {
    return values
      .map((value) => ({ value, at: this.next() }))
      .sort((p, q) => p.at - q.at)
      .map(({ value }) => value);
  }
}
