/** A line of a log before a string is made of it; valid until the next line is read. */
export interface LineBytes {
  readonly bytes: Uint8Array;
  /** The line without its end: `from` ≤ index < `to`. */
  readonly from: number;
  readonly to: number;
  text(from: number, to: number): string;
  /** Only right for ASCII, and cheaper. */
  ascii(from: number, to: number): string;
}

const code = (letter: string): number => letter.charCodeAt(0);
const [zero, dot, space, colon, minus, bar] = [
  code("0"),
  code("."),
  code(" "),
  code(":"),
  code("-"),
  code("|"),
];
const bytesOf = (text: string): readonly number[] => Array.from(text, code);
const [slotWord, idWord, taskWord] = [bytesOf("slot "), bytesOf(" id "), bytesOf(" | task ")];
const levels = new Set(bytesOf("DIWE"));
/** How the three of a request's eight lines begin that say nothing of it. */
const idleMessages = ["total time =", "graphs reused =", "graph reallocs ="].map(bytesOf);

/** Longer ones are not llama.cpp's: the other way of reading cuts them off. */
const longest = 4096;

/**
 * The beginning of nearly every line of a long log, `0.06.980.322 I slot print_timing: id  0 | task 22 | …`, read from its
 * bytes: one object serves all lines.
 */
export class SlotLine {
  /** Since the server's start. */
  seconds = 0;
  slot = 0;
  task = 0;
  /** Where the message begins. */
  message = 0;
  private at = 0;

  /** false: the line begins otherwise, and nothing here holds. */
  read({ bytes, from, to }: LineBytes): boolean {
    if (to - from > longest) return false;
    this.at = from;
    const minutes = this.digits(bytes, to, 0);
    const seconds = minutes < 0 ? -1 : this.part(bytes, to, dot, 2);
    const milliseconds = seconds < 0 ? -1 : this.part(bytes, to, dot, 3);
    const microseconds = milliseconds < 0 ? -1 : this.part(bytes, to, dot, 3);
    if (microseconds < 0 || bytes[this.at] !== space || !levels.has(bytes[this.at + 1] ?? 0)) return false;
    if (bytes[this.at + 2] !== space) return false;
    this.at += 3;
    if (!this.word(bytes, slotWord)) return false;
    while (this.at < to && bytes[this.at] !== colon) this.at++;
    this.at++;
    if (!this.word(bytes, idWord)) return false;
    this.spaces(bytes);
    const slot = this.digits(bytes, to, 0);
    if (slot < 0 || !this.word(bytes, taskWord)) return false;
    const below = bytes[this.at] === minus;
    if (below) this.at++;
    const task = this.digits(bytes, to, 0);
    if (task < 0 || bytes[this.at] !== space || bytes[this.at + 1] !== bar) return false;
    this.at += 2;
    this.spaces(bytes);
    if (this.at >= to) return false;
    this.seconds = minutes * 60 + seconds + (milliseconds * 1000 + microseconds) / 1e6;
    this.slot = slot;
    this.task = below ? -task : task;
    this.message = this.at;
    return true;
  }

  /** The message says nothing about a request that its other lines do not. */
  idle(bytes: Uint8Array): boolean {
    for (const words of idleMessages) if (this.word(bytes, words)) return true;
    return false;
  }

  /** -1 without digits, or with another count than `exactly` > 0. */
  private digits(bytes: Uint8Array, to: number, exactly: number): number {
    const first = this.at;
    let value = 0;
    while (this.at < to) {
      const digit = (bytes[this.at] ?? 0) - zero;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
      this.at++;
    }
    const count = this.at - first;
    return count === 0 || count > 15 || (exactly > 0 && count !== exactly) ? -1 : value;
  }

  private part(bytes: Uint8Array, to: number, before: number, exactly: number): number {
    if (bytes[this.at] !== before) return -1;
    this.at++;
    return this.digits(bytes, to, exactly);
  }

  private word(bytes: Uint8Array, word: readonly number[]): boolean {
    for (let i = 0; i < word.length; i++) if (bytes[this.at + i] !== word[i]) return false;
    this.at += word.length;
    return true;
  }

  private spaces(bytes: Uint8Array): void {
    while (bytes[this.at] === space) this.at++;
  }
}
