/** A piece of a text: a string, or bytes as they are. */
export type TextPiece = string | Uint8Array;

/**
 * Where gathered text (`bytes` up to `length`) may be cut, or -1 (or 0) where it has to stay together. `sound`: it is
 * well-formed UTF-8.
 */
export type CutOfGathered = (bytes: Uint8Array, length: number, sound: boolean) => number;

/**
 * Joins pieces to parts of about a size that may be tokenized one after the other. Where nothing can be cut a part
 * grows until something can.
 */
export class TextGatherer {
  private buffer: Uint8Array;
  private length = 0;
  private isSound = true;
  /** First half of a character that the next piece may end. */
  private half = "";
  private readonly encoder = new TextEncoder();

  constructor(
    private readonly size: number,
    /** Bytes that are given are well-formed UTF-8. */
    private readonly wellFormed: boolean,
    private readonly cut: CutOfGathered,
  ) {
    this.buffer = new Uint8Array(size * 2);
  }

  /** A part is valid until the next one is asked for. `sound`: it is well-formed UTF-8. */
  *parts(pieces: Iterable<TextPiece>): Generator<{ readonly bytes: Uint8Array; readonly sound: boolean }> {
    let goal = this.size;
    for (const piece of pieces) {
      for (const slice of slices(piece, this.size)) {
        this.append(slice);
        if (this.length < goal) continue;
        const at = this.cut(this.buffer, this.length, this.isSound);
        if (at <= 0) {
          goal = this.length * 2;
          continue;
        }
        yield { bytes: this.buffer.subarray(0, at), sound: this.isSound };
        this.buffer.copyWithin(0, at, this.length);
        this.length -= at;
        goal = this.size;
      }
    }
    this.flushHalf();
    if (this.length > 0) yield { bytes: this.buffer.subarray(0, this.length), sound: this.isSound };
  }

  private append(piece: TextPiece): void {
    if (typeof piece !== "string") {
      this.flushHalf();
      this.isSound &&= this.wellFormed;
      this.reserve(piece.length);
      this.buffer.set(piece, this.length);
      this.length += piece.length;
      return;
    }
    const text = this.half + piece;
    const last = text.charCodeAt(text.length - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff;
    this.half = isHalf ? text.slice(-1) : "";
    this.encode(isHalf ? text.slice(0, -1) : text);
  }

  private flushHalf(): void {
    this.encode(this.half);
    this.half = "";
  }

  private encode(text: string): void {
    this.reserve(text.length * 3);
    this.length += this.encoder.encodeInto(text, this.buffer.subarray(this.length)).written;
  }

  private reserve(size: number): void {
    if (this.length + size <= this.buffer.length) return;
    const grown = new Uint8Array(Math.max(this.buffer.length * 2, this.length + size));
    grown.set(this.buffer.subarray(0, this.length));
    this.buffer = grown;
  }
}

function* slices(piece: TextPiece, size: number): Generator<TextPiece> {
  if (piece.length <= size) {
    yield piece;
    return;
  }
  for (let at = 0; at < piece.length; at += size) {
    yield typeof piece === "string" ? piece.slice(at, at + size) : piece.subarray(at, at + size);
  }
}
