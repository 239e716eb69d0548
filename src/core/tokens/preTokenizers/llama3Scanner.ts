import {
  apostrophe,
  blank,
  carriageReturn,
  classAt,
  contraction,
  enders,
  fewOf,
  lineFeed,
  runOf,
  slash,
  spaces,
  widthAt,
  type NextPiece,
} from "./scanner";
import {
  letter,
  mark,
  number,
  other,
  punctuation,
  space,
  symbol,
  unicodeClasses,
} from "../unicode/unicodeClasses";

/**
 * The shape Llama 3, Qwen and many others share:
 * `'s|'t|…|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
 */
export interface Llama3Shape {
  readonly contractions: boolean;
  /** Marks belong to the letters. */
  readonly marks: boolean;
  readonly digits: number;
  /** Digits are split off in a step of their own. */
  readonly digitsFirst: boolean;
  /** What may follow symbols: line breaks, or nothing (then line breaks are not symbols' either way). */
  readonly symbolTail: "newlines" | "none";
  /** Blanks fall apart into 512, 256, … 4, 2, 1. */
  readonly spacesByPowers: boolean;
}

export const llama3Shape: Llama3Shape = {
  contractions: true,
  marks: false,
  digits: 3,
  digitsFirst: false,
  symbolTail: "newlines",
  spacesByPowers: false,
};

export function llama3Scanner(shape: Llama3Shape): NextPiece {
  const { contractions, digits, symbolTail, spacesByPowers } = shape;
  const letters = shape.marks ? letter | mark : letter;
  const symbols = (mark | punctuation | symbol | other) & ~letters;
  const textEnders = enders(shape.digitsFirst);
  const classes = unicodeClasses();
  return (bytes, from, end) => {
    const first = bytes[from] as number;
    if (first === apostrophe && contractions) {
      const length = contraction(bytes, from, end, true);
      if (length > 0) return from + length;
    }
    const kind = first < 0x80 ? (classes[first] as number) : classAt(bytes, from);
    if ((kind & number) !== 0) return fewOf(number, digits, bytes, from, end);
    const second = first < 0x80 ? from + 1 : from + widthAt(bytes, from);
    if ((kind & letters) !== 0) return runOf(letters, bytes, second, end);
    const next = second < end ? classAt(bytes, second) : space;
    if (first !== carriageReturn && first !== lineFeed && (next & letters) !== 0) {
      return runOf(letters, bytes, second, end);
    }
    if ((kind & symbols) !== 0 || (first === blank && (next & symbols) !== 0)) {
      let at = runOf(symbols, bytes, second, end);
      if (symbolTail === "newlines") at = newlines(bytes, at, end);
      return at;
    }
    const at = spaces(bytes, from, end, true, textEnders);
    return spacesByPowers ? powerOfSpaces(bytes, from, at, end) : at;
  };
}

export function newlines(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && (bytes[at] === lineFeed || bytes[at] === carriageReturn)) at++;
  return at;
}

export function newlinesAndSlashes(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && (bytes[at] === lineFeed || bytes[at] === carriageReturn || bytes[at] === slash)) at++;
  return at;
}

/** `\s{512}(?!\S)|\s{256}(?!\S)|…|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}` where no line break is in the run. */
function powerOfSpaces(bytes: Uint8Array, from: number, usual: number, end: number): number {
  for (let i = from; i < usual; i++) {
    if (bytes[i] === lineFeed || bytes[i] === carriageReturn) return usual;
  }
  const followed = runOf(space, bytes, from, end) < end;
  for (let size = 512; size > 1; size >>= 1) {
    const at = fewOf(space, size, bytes, from, end);
    const whole = countCharacters(bytes, from, at) === size;
    const more = at < end && (classAt(bytes, at) & space) !== 0;
    if (whole && (more || !followed)) return at;
  }
  return from + widthAt(bytes, from);
}

function countCharacters(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += widthAt(bytes, at)) count++;
  return count;
}
