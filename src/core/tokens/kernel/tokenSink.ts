import type { LastCut } from "../preTokenizers/cuts";

/** Token ids, growing. */
export class TokenSink {
  private ids = new Int32Array(256);
  length = 0;

  push(id: number): void {
    if (this.length === this.ids.length) {
      const grown = new Int32Array(this.ids.length * 2);
      grown.set(this.ids);
      this.ids = grown;
    }
    this.ids[this.length++] = id;
  }

  truncate(length: number): void {
    this.length = length;
  }

  take(): Int32Array {
    return this.ids.slice(0, this.length);
  }
}

/** What goes with tokenizing: when to stop, and where ids go where they are wanted. */
export interface TokenWork {
  readonly check: Checkpoint;
  readonly sink?: TokenSink;
}

/** Tokenizes the text between two special tokens. `afterSpecial`: the text is at the start, or follows such a token. */
export interface TextTokenizer {
  /** Where well-formed text may be cut; the parts are then tokenized in order, only the first as `afterSpecial`. */
  readonly lastCut: LastCut;
  /** Returns how many tokens the text has. */
  tokenize(bytes: Uint8Array, start: number, end: number, afterSpecial: boolean, work: TokenWork): number;
}

/** Called now and then during long work, with the steps it took where a vocabulary decides how many; throws to stop it. */
export type Checkpoint = (steps?: number) => void;

/** Pieces between two checkpoints: a few milliseconds of work. */
export const piecesPerCheck = 8192;
