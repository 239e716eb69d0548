import { mark, number, other, punctuation, space, symbol, unicodeClasses } from "../unicode/unicodeClasses";
import { codePointAt, utf8Width } from "../unicode/utf8";

/** End of the pre-token that starts at `at`, in well-formed UTF-8 that ends at `end`. Depends on nothing before `at`. */
export type NextPiece = (bytes: Uint8Array, at: number, end: number) => number;

export const lineFeed = 0x0a;
export const carriageReturn = 0x0d;
export const blank = 0x20;
export const apostrophe = 0x27;
export const slash = 0x2f;

const classes = unicodeClasses();

/** Class bits of the character at `at`. */
export function classAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] as number;
  return byte < 0x80 ? (classes[byte] as number) : (classes[codePointAt(bytes, at)] as number);
}

export function widthAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] as number;
  return byte < 0x80 ? 1 : utf8Width(byte);
}

/** End of the run of characters whose class has a bit of `wanted`. */
export function runOf(wanted: number, bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const byte = bytes[at] as number;
    if (byte < 0x80) {
      if (((classes[byte] as number) & wanted) === 0) return at;
      at++;
    } else {
      if (((classes[codePointAt(bytes, at)] as number) & wanted) === 0) return at;
      at += utf8Width(byte);
    }
  }
  return at;
}

/** End of at most `most` characters of a class. */
export function fewOf(wanted: number, most: number, bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  for (let i = 0; i < most && at < end && (classAt(bytes, at) & wanted) !== 0; i++) at += widthAt(bytes, at);
  return at;
}

/** Length of 's 't 'm 'd 're 've 'll at an apostrophe, or 0. */
export function contraction(bytes: Uint8Array, at: number, end: number, anyCase: boolean): number {
  if (at + 1 >= end) return 0;
  const fold = anyCase ? 0x20 : 0;
  const first = (bytes[at + 1] as number) | fold;
  if (first === 0x73 || first === 0x74 || first === 0x6d || first === 0x64) return 2;
  if (at + 2 >= end) return 0;
  const second = (bytes[at + 2] as number) | fold;
  if (second === 0x65 && (first === 0x72 || first === 0x76)) return 3;
  return first === 0x6c && second === 0x6c ? 3 : 0;
}

/**
 * White space: `\s*[\r\n]+|\s+(?!\S)|\s+`, or without its first alternative. `textEnders` are classes that end the text
 * for the look-ahead because an earlier step has split them off.
 */
export function spaces(
  bytes: Uint8Array,
  from: number,
  end: number,
  newlines: boolean,
  textEnders: number,
): number {
  let at = from;
  let last = from;
  let afterNewline = 0;
  while (at < end) {
    const byte = bytes[at] as number;
    if (byte < 0x80) {
      if (((classes[byte] as number) & space) === 0) break;
      last = at++;
      if (byte === lineFeed || byte === carriageReturn) afterNewline = at;
    } else {
      if (((classes[codePointAt(bytes, at)] as number) & space) === 0) break;
      last = at;
      at += utf8Width(byte);
    }
  }
  if (newlines && afterNewline > 0) return afterNewline;
  const followed = at < end && (textEnders === 0 || (classAt(bytes, at) & textEnders) === 0);
  return followed && last > from ? last : at;
}

/** `number` where digits are split off first, so that they end the text for everything else. */
export const enders = (digitsFirst: boolean): number => (digitsFirst ? number : 0);

/** The characters neither white space, letter nor number that words are not made of. */
const symbols = mark | punctuation | symbol | other;

/**
 * The end of most patterns, ` ?[^\s\p{L}\p{N}]+TAIL|\s*[\r\n]+|\s+(?!\S)|\s+`, for a character of the class `kind` that is
 * neither letter nor number.
 */
export function symbolsOrSpaces(
  bytes: Uint8Array,
  from: number,
  end: number,
  kind: number,
  tail: NextPiece,
): number {
  const second = from + widthAt(bytes, from);
  const leads = bytes[from] === blank && second < end && (classAt(bytes, second) & symbols) !== 0;
  if ((kind & symbols) !== 0 || leads) return tail(bytes, runOf(symbols, bytes, second, end), end);
  return spaces(bytes, from, end, true, 0);
}
