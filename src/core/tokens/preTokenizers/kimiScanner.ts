import { newlines } from "./llama3Scanner";
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
import { letter, number } from "../unicode/unicodeClasses";
import { codePointAt } from "../unicode/utf8";

/** The blocks llama.cpp takes for Han. */
function isHan(code: number): boolean {
  return (
    (code >= 0x4e00 && code <= 0x9fff) ||
    (code >= 0x3400 && code <= 0x4dbf) ||
    (code >= 0x20000 && code <= 0x2a6df) ||
    (code >= 0x2a700 && code <= 0x2ebef) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0x2f800 && code <= 0x2fa1f)
  );
}

/** Kimi K2: runs of Han, words of other letters (case does not matter) with a contraction, then as Llama 3. */
export const kimiScanner: NextPiece = (bytes, from, end) => {
  if (isHanAt(bytes, from, end)) {
    let at = from;
    while (isHanAt(bytes, at, end)) at += widthAt(bytes, at);
    return at;
  }
  const first = bytes[from] as number;
  const kind = classAt(bytes, from);
  if ((kind & number) !== 0) return fewOf(number, 3, bytes, from, end);
  const second = from + widthAt(bytes, from);
  const leads = first !== carriageReturn && first !== lineFeed;
  if ((kind & letter) !== 0 || (leads && isWordAt(bytes, second, end))) {
    let at = second;
    while (isWordAt(bytes, at, end)) at += widthAt(bytes, at);
    return at < end && bytes[at] === apostrophe ? at + contraction(bytes, at, end, true) : at;
  }
  return symbolsOrSpaces(bytes, from, end, kind, newlines);
};

const isHanAt = (bytes: Uint8Array, at: number, end: number): boolean =>
  at < end && (bytes[at] as number) >= 0xe3 && isHan(codePointAt(bytes, at));

const isWordAt = (bytes: Uint8Array, at: number, end: number): boolean =>
  at < end && (classAt(bytes, at) & letter) !== 0 && !isHanAt(bytes, at, end);
