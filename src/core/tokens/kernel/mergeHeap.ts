/**
 * Candidates of merges in the order of llama.cpp's queue: lowest rank first, then leftmost. One number per candidate:
 * rank · 2^31 + position, exact in a double up to rank 2^22.
 */
export class MergeHeap {
  private keys = new Float64Array(1024);
  private size = 0;

  clear(): void {
    this.size = 0;
    if (this.keys.length > 1 << 20) this.keys = new Float64Array(1024);
  }

  push(rank: number, position: number): void {
    if (this.size === this.keys.length) {
      const grown = new Float64Array(this.keys.length * 2);
      grown.set(this.keys);
      this.keys = grown;
    }
    const { keys } = this;
    const key = rank * 2147483648 + position;
    let at = this.size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = keys[parent] as number;
      if (above <= key) break;
      keys[at] = above;
      at = parent;
    }
    keys[at] = key;
  }

  /** The first key, or -1 when nothing is left. */
  pop(): number {
    if (this.size === 0) return -1;
    const { keys } = this;
    const top = keys[0] as number;
    const key = keys[--this.size] as number;
    const { size } = this;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= size) break;
      if (child + 1 < size && (keys[child + 1] as number) < (keys[child] as number)) child++;
      if ((keys[child] as number) >= key) break;
      keys[at] = keys[child] as number;
      at = child;
    }
    keys[at] = key;
    return top;
  }
}

export const rankOf = (key: number): number => Math.floor(key / 2147483648);
export const positionOf = (key: number): number => key % 2147483648;
