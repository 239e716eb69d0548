import {
  apostrophe,
  blank,
  classAt,
  contraction,
  enders,
  runOf,
  spaces,
  widthAt,
  type NextPiece,
} from "./scanner";
import { letter, mark, number, other, punctuation, space, symbol } from "../unicode/unicodeClasses";

const symbols = mark | punctuation | symbol | other;

/**
 * `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`; with `digitsFirst` every digit is split
 * off in a step before (StarCoder).
 */
export function gpt2Scanner(digitsFirst: boolean): NextPiece {
  const textEnders = enders(digitsFirst);
  return (bytes, from, end) => {
    const first = bytes[from] as number;
    if (first === apostrophe) {
      const length = contraction(bytes, from, end, false);
      if (length > 0) return from + length;
    }
    const second = from + widthAt(bytes, from);
    let kind = classAt(bytes, from);
    if (digitsFirst && (kind & number) !== 0) return second;
    let at = from;
    if (first === blank && second < end) {
      kind = classAt(bytes, second);
      at = second;
      if (digitsFirst && (kind & number) !== 0) return second;
    }
    if ((kind & letter) !== 0) return runOf(letter, bytes, at, end);
    if ((kind & number) !== 0) return runOf(number, bytes, at, end);
    if ((kind & space) === 0) return runOf(symbols, bytes, at, end);
    return spaces(bytes, from, end, false, textEnders);
  };
}
