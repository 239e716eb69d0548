import { beforeBlanks } from "../preTokenizers/cuts";
import { classAt } from "../preTokenizers/scanner";
import { piecesPerCheck, type Checkpoint, type TextTokenizer, type TokenWork } from "./tokenSink";
import { space, toLower } from "../unicode/unicodeClasses";
import { codePointAt, utf8Width, writeCodePoint } from "../unicode/utf8";

/** Words between white space, which is dropped, each tokenized alone. */
export class WhitespaceTokenizer implements TextTokenizer {
  readonly lastCut = beforeBlanks;

  constructor(
    private readonly inner: TextTokenizer,
    private readonly lowercase: boolean,
  ) {}

  tokenize(bytes: Uint8Array, start: number, end: number, after: boolean, work: TokenWork): number {
    let tokens = 0;
    this.words(bytes, start, end, work.check, (word, length) => {
      tokens += this.inner.tokenize(word, 0, length, after, work);
    });
    return tokens;
  }

  private words(
    bytes: Uint8Array,
    start: number,
    end: number,
    check: Checkpoint,
    word: (bytes: Uint8Array, length: number) => void,
  ): void {
    const buffer = new Uint8Array((end - start) * 2 + 4);
    let length = 0;
    let words = 0;
    const finish = () => {
      if (length > 0) word(buffer, length);
      length = 0;
      if (++words % piecesPerCheck === 0) check();
    };
    for (let at = start; at < end; at += utf8Width(bytes[at] as number)) {
      if ((classAt(bytes, at) & space) !== 0) {
        finish();
        continue;
      }
      const code = codePointAt(bytes, at);
      length = writeCodePoint(buffer, length, this.lowercase ? toLower(code) : code);
    }
    finish();
  }
}
