/** A trie over bytes with a value per text, in growing plain arrays. */
export class ByteTrie {
  /** Open addressing from node · 256 + byte to the child node. */
  private keys = new Int32Array(1 << 10).fill(-1);
  private children = new Int32Array(1 << 10);
  private values = new Int32Array(256).fill(-1);
  private nodes = 1;
  private edges = 0;

  insert(text: Uint8Array, start: number, end: number, value: number): void {
    let node = 0;
    for (let i = start; i < end; i++) node = this.childOrNew(node, text[i] as number);
    this.values[node] = value;
  }

  /** Child of a node (0 is the root), or -1. */
  child(node: number, byte: number): number {
    const { keys } = this;
    const mask = keys.length - 1;
    const key = (node << 8) | byte;
    for (let at = Math.imul(key, 0x9e3779b1 | 0) >>> 7; ; at++) {
      const found = keys[at & mask] as number;
      if (found === key) return this.children[at & mask] as number;
      if (found === -1) return -1;
    }
  }

  /** Value of the text that ends in a node, or -1. */
  value(node: number): number {
    return this.values[node] as number;
  }

  private childOrNew(node: number, byte: number): number {
    const found = this.child(node, byte);
    if (found >= 0) return found;
    if (this.edges * 2 >= this.keys.length) this.grow();
    if (this.nodes === this.values.length) {
      const values = new Int32Array(this.values.length * 2).fill(-1);
      values.set(this.values);
      this.values = values;
    }
    this.place((node << 8) | byte, this.nodes);
    this.edges++;
    return this.nodes++;
  }

  private place(key: number, child: number): void {
    const mask = this.keys.length - 1;
    let at = Math.imul(key, 0x9e3779b1 | 0) >>> 7;
    while (this.keys[at & mask] !== -1) at++;
    this.keys[at & mask] = key;
    this.children[at & mask] = child;
  }

  private grow(): void {
    const { keys, children } = this;
    this.keys = new Int32Array(keys.length * 2).fill(-1);
    this.children = new Int32Array(keys.length * 2);
    keys.forEach((key, i) => {
      if (key !== -1) this.place(key, children[i] as number);
    });
  }
}
