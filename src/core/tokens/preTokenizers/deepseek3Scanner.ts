import { blank, carriageReturn, classAt, fewOf, lineFeed, widthAt, type NextPiece } from "./scanner";
import { newlines } from "./llama3Scanner";
import { kanaOrHan, letter, mark, number, punctuation, space, symbol } from "../unicode/unicodeClasses";

const letters = letter | mark;
const marks = punctuation | symbol;

/**
 * DeepSeek V3: digits in threes, then runs of kana and Han, each text between them by itself through
 * ``[!-/:-@[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+``.
 */
export const deepseek3Scanner: NextPiece = (bytes, from, end) => {
  const kind = classAt(bytes, from);
  if ((kind & number) !== 0) return fewOf(number, 3, bytes, from, end);
  const part = kind & kanaOrHan;
  const first = bytes[from] as number;
  const second = from + widthAt(bytes, from);
  const next = kindWithin(part, bytes, second, end);
  if (first < 0x80 && (kind & marks) !== 0 && second < end && isAsciiLetter(bytes[second] as number)) {
    let at = second + 1;
    while (at < end && isAsciiLetter(bytes[at] as number)) at++;
    return at;
  }
  if ((kind & letters) !== 0) return runWithin(part, letters, bytes, second, end);
  const leads = (kind & marks) === 0 && first !== carriageReturn && first !== lineFeed;
  if (leads && (next & letters) !== 0) return runWithin(part, letters, bytes, second, end);
  if ((kind & marks) !== 0 || (first === blank && (next & marks) !== 0)) {
    const at = runWithin(part, marks, bytes, second, end);
    // line breaks are no part of kana and Han
    return part === 0 ? newlines(bytes, at, end) : at;
  }
  return (kind & space) !== 0 ? spacesWithin(bytes, from, end) : unmatched(part, bytes, second, end);
};

const isAsciiLetter = (byte: number): boolean => {
  const folded = byte | 0x20;
  return folded >= 0x61 && folded <= 0x7a;
};

/** Class at `at`, or 0 where another part of the text begins. */
function kindWithin(part: number, bytes: Uint8Array, at: number, end: number): number {
  if (at >= end) return 0;
  const kind = classAt(bytes, at);
  return (kind & number) !== 0 || (kind & kanaOrHan) !== part ? 0 : kind;
}

function runWithin(part: number, wanted: number, bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while ((kindWithin(part, bytes, at, end) & wanted) !== 0) at += widthAt(bytes, at);
  return at;
}

function spacesWithin(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  let last = from;
  let afterNewline = 0;
  while (at < end && (classAt(bytes, at) & space) !== 0) {
    const byte = bytes[at] as number;
    last = at;
    at += widthAt(bytes, at);
    if (byte === lineFeed || byte === carriageReturn) afterNewline = at;
  }
  if (afterNewline > 0) return afterNewline;
  return kindWithin(0, bytes, at, end) !== 0 && last > from ? last : at;
}

/** Text that no alternative matches stays together until one does. */
function unmatched(part: number, bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  for (;;) {
    const kind = kindWithin(part, bytes, at, end);
    if (kind === 0 || (kind & (letters | marks | space)) !== 0) return at;
    const following = at + widthAt(bytes, at);
    if ((kindWithin(part, bytes, following, end) & letters) !== 0) return at;
    at = following;
  }
}
