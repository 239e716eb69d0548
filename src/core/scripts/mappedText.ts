/** UTF-16 offsets in a document, end exclusive. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** A text that was read out of a document, and where each of its characters stands there. */
export class MappedText {
  #text = "";
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  /** @param origin where a text without characters stands. */
  constructor(private readonly origin = 0) {}

  get text(): string {
    return this.#text;
  }

  /** All of the text stands for one place: an escape. */
  add(text: string, { start, end }: Place): this {
    this.#text += text;
    for (let unit = 0; unit < text.length; unit++) {
      this.#starts.push(start);
      this.#ends.push(end);
    }
    return this;
  }

  addVerbatim(text: string, start: number): this {
    this.#text += text;
    for (let unit = 0; unit < text.length; unit++) {
      this.#starts.push(start + unit);
      this.#ends.push(start + unit + 1);
    }
    return this;
  }

  addPart(other: MappedText, from = 0, to = other.text.length): this {
    this.#text += other.text.slice(from, to);
    for (let unit = from; unit < to; unit++) {
      this.#starts.push(other.#starts[unit] ?? 0);
      this.#ends.push(other.#ends[unit] ?? 0);
    }
    return this;
  }

  place(from: number, to: number): Place {
    const start = this.#starts[from] ?? this.#ends.at(-1) ?? this.origin;
    return { start, end: to > from ? (this.#ends[to - 1] ?? start) : start };
  }

  /** This text was read out of `outer`, which was read out of the document. */
  through(outer: MappedText): MappedText {
    const composed = new MappedText(outer.place(this.origin, this.origin).start);
    for (let unit = 0; unit < this.#text.length; unit++) {
      composed.add(this.#text[unit] ?? "", outer.place(this.#starts[unit] ?? 0, this.#ends[unit] ?? 0));
    }
    return composed;
  }

  /** What matches becomes blanks. */
  blanked(pattern: RegExp): MappedText {
    const blanked = new MappedText(this.origin).addPart(this);
    blanked.#text = this.#text.replace(pattern, (part) => " ".repeat(part.length));
    return blanked;
  }
}
