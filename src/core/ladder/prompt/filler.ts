import { count, say } from "../../text";
import { UserError } from "../../userError";

/** Tokens of each text taken alone. */
export type CountTexts = (texts: readonly string[]) => Promise<readonly number[]>;

const batch = 512;
const longestPiece = 2000;

/** Text between the canaries, taken piece by piece (a sentence or a line) and never twice. */
export class Filler {
  readonly #pieces: Iterator<string, unknown>;
  #ready: { readonly text: string; readonly tokens: number }[] = [];
  #taken = 0;

  constructor(
    pieces: Iterable<string>,
    private readonly countTexts: CountTexts,
    /** Named in the error when it runs out. */
    private readonly name: string,
  ) {
    this.#pieces = pieces[Symbol.iterator]();
  }

  /** About so many tokens of text, at least one; pieces that hold one of `values` are left out. */
  async about(wanted: number, values: ReadonlySet<string>, tokenize: Tokenize): Promise<readonly number[]> {
    const texts: string[] = [];
    let sum = 0;
    for (;;) {
      const piece = await this.#next(values);
      const over = sum + piece.tokens - wanted;
      if (texts.length > 0 && over > 0 && over > wanted - sum) {
        this.#ready.unshift(piece);
        break;
      }
      texts.push(piece.text);
      sum += piece.tokens;
      if (sum >= wanted) break;
    }
    const text = `${texts.join("").trimEnd()}\n`;
    const tokens = await tokenize(text, { bos: false, special: false });
    this.#taken += tokens.length;
    return tokens;
  }

  async #next(values: ReadonlySet<string>): Promise<{ readonly text: string; readonly tokens: number }> {
    for (;;) {
      if (this.#ready.length === 0) await this.#fill();
      const piece = this.#ready.shift();
      if (piece === undefined) {
        throw new UserError(
          "invalidInput",
          say`The filler ${this.name} is too small: it ends after ${count(this.#taken)} token[s].`,
          say`Specify a larger folder, use shorter rungs, or write filler: shipped.`,
        );
      }
      const numbers = piece.text.match(/\d{6}/g) ?? [];
      if (!numbers.some((number) => values.has(number))) return piece;
    }
  }

  async #fill(): Promise<void> {
    const texts: string[] = [];
    while (texts.length < batch) {
      const next = this.#pieces.next();
      if (next.done === true) break;
      const piece = next.value;
      for (let at = 0; at < piece.length; at += longestPiece) texts.push(piece.slice(at, at + longestPiece));
    }
    if (texts.length === 0) return;
    const counts = await this.countTexts(texts);
    this.#ready = texts.map((text, i) => ({ text, tokens: Math.max(1, counts[i] ?? 1) }));
  }
}

/** A file's text in lines, for filler. */
export function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** The server's own tokenizer. Special tokens in `text` count as such only where `special` says so. */
export type Tokenize = (
  text: string,
  options: { readonly bos: boolean; readonly special: boolean },
) => Promise<readonly number[]>;
