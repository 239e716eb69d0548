import { newlinesAndSlashes } from "./llama3Scanner";
import {
  apostrophe,
  carriageReturn,
  classAt,
  contraction,
  fewOf,
  lineFeed,
  symbolsOrSpaces,
  widthAt,
  type NextPiece,
} from "./scanner";
import { letter, mark, number } from "../unicode/unicodeClasses";

export interface Gpt4oShape {
  readonly contractions: boolean;
  readonly digits: number;
  /** Marks count as letters. */
  readonly marks: boolean;
}

/**
 * llama.cpp's ASCII form of o200k: in a word, "upper" is any letter but a-z and "lower" any letter but A-Z, so
 * `[^\r\n\p{L}\p{N}]?U*L+(?:'s|…)?|[^\r\n\p{L}\p{N}]?U+L*(?:'s|…)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|…`
 */
export function gpt4oScanner(shape: Gpt4oShape): NextPiece {
  const { contractions, digits } = shape;
  const letters = shape.marks ? letter | mark : letter;
  return (bytes, from, end) => {
    const first = bytes[from] as number;
    const kind = classAt(bytes, from);
    if ((kind & number) !== 0) return fewOf(number, digits, bytes, from, end);
    const second = from + widthAt(bytes, from);
    const isLetter = (kind & letters) !== 0;
    if ((kind & letter) === 0 && first !== carriageReturn && first !== lineFeed && second < end) {
      // a character before the word belongs to it; where it is itself a mark, the word may have to start at it instead
      if ((classAt(bytes, second) & letters) !== 0) {
        const word = wordEnd(bytes, second, end, letters);
        if (word.cased || !isLetter) return suffix(bytes, word.end, end, contractions);
      }
    }
    if (isLetter) return suffix(bytes, wordEnd(bytes, from, end, letters).end, end, contractions);
    return symbolsOrSpaces(bytes, from, end, kind, newlinesAndSlashes);
  };
}

function suffix(bytes: Uint8Array, at: number, end: number, contractions: boolean): number {
  if (!contractions || at >= end || bytes[at] !== apostrophe) return at;
  return at + contraction(bytes, at, end, true);
}

const word = { end: 0, cased: false };

/**
 * End of `U*L+`, or of `U+` where no `L` can follow (`cased` false). The greedy `U*` stops at a-z; where none comes it
 * gives back down to the last letter that is not A-Z.
 */
function wordEnd(
  bytes: Uint8Array,
  from: number,
  end: number,
  letters: number,
): { readonly end: number; readonly cased: boolean } {
  let at = from;
  let afterBoth = 0;
  while (at < end) {
    const byte = bytes[at] as number;
    if (byte < 0x80) {
      if (byte >= 0x61 && byte <= 0x7a) {
        word.end = lowerRun(bytes, at, end, letters);
        word.cased = true;
        return word;
      }
      if (byte < 0x41 || byte > 0x5a) break;
      at++;
    } else {
      if ((classAt(bytes, at) & letters) === 0) break;
      at += widthAt(bytes, at);
      afterBoth = at;
    }
  }
  word.cased = afterBoth > 0;
  word.end = afterBoth > 0 ? afterBoth : at;
  return word;
}

function lowerRun(bytes: Uint8Array, from: number, end: number, letters: number): number {
  let at = from;
  while (at < end) {
    const byte = bytes[at] as number;
    if (byte < 0x80) {
      if (byte < 0x61 || byte > 0x7a) break;
      at++;
    } else {
      if ((classAt(bytes, at) & letters) === 0) break;
      at += widthAt(bytes, at);
    }
  }
  return at;
}
