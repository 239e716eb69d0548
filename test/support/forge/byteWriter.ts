/** Little-endian bytes that grow as they are written. */
export class ByteWriter {
  #buffer = Buffer.alloc(1 << 16);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  u32(value: number): void {
    this.#length = this.#room(4).writeUInt32LE(value, this.#length);
  }

  i32(value: number): void {
    this.#length = this.#room(4).writeInt32LE(value, this.#length);
  }

  u64(value: number): void {
    this.#length = this.#room(8).writeBigUInt64LE(BigInt(value), this.#length);
  }

  f32(value: number): void {
    this.#length = this.#room(4).writeFloatLE(value, this.#length);
  }

  u8(value: number): void {
    this.#length = this.#room(1).writeUInt8(value, this.#length);
  }

  /** GGUF string: length in bytes (u64), then UTF-8. */
  string(text: string): void {
    const bytes = Buffer.from(text, "utf8");
    this.u64(bytes.length);
    bytes.copy(this.#room(bytes.length), this.#length);
    this.#length += bytes.length;
  }

  padTo(alignment: number): void {
    while (this.#length % alignment !== 0) this.u8(0);
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #room(more: number): Buffer {
    if (this.#length + more > this.#buffer.length) {
      const grown = Buffer.alloc(Math.max(this.#buffer.length * 2, this.#length + more));
      this.#buffer.copy(grown);
      this.#buffer = grown;
    }
    return this.#buffer;
  }
}
