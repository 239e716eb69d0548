import type { Junctions } from "./junctions";
import { blank, lineFeed } from "./scanner";

/**
 * Finds the last place in (from, to) where a text may be cut so that both parts, tokenized one after the other, give the
 * tokens of the whole; -1 where there is none. Looks at `bytes[to]` at most.
 */
export type LastCut = (bytes: Uint8Array, from: number, to: number) => number;

export const noCut: LastCut = () => -1;

/** Between an ASCII letter and a blank before another: a blank starts a piece there in every family that uses this. */
export const betweenWords: LastCut = (bytes, from, to) => {
  for (let at = to - 1; at > from; at--) {
    if (bytes[at] === blank && isLetter(bytes[at + 1]) && isLetter(bytes[at - 1])) return at;
  }
  return -1;
};

/** Between a digit and an ASCII letter. */
export const afterDigits: LastCut = (bytes, from, to) => {
  for (let at = to - 1; at > from; at--) {
    if (isLetter(bytes[at]) && isDigit(bytes[at - 1])) return at;
  }
  return -1;
};

/** Before a line that follows line feeds. */
export const beforeLines: LastCut = (bytes, from, to) => {
  for (let at = to - 1; at > from; at--) {
    if (bytes[at - 1] === lineFeed && bytes[at] !== lineFeed) return at;
  }
  return -1;
};

/** Before white space that separates words. */
export const beforeBlanks: LastCut = (bytes, from, to) => {
  for (let at = to - 1; at > from; at--) if (bytes[at] === blank || bytes[at] === lineFeed) return at;
  return -1;
};

/** Between two ASCII characters that no merge joins. Line feeds stay together. */
export const betweenJunctions =
  (junctions: Junctions): LastCut =>
  (bytes, from, to) => {
    for (let at = to - 1; at > from; at--) {
      const left = bytes[at - 1] as number;
      const right = bytes[at] as number;
      if ((left | right) >= 0x80 || (left === lineFeed && right === lineFeed)) continue;
      if (!junctions.has(left, right)) return at;
    }
    return -1;
  };

/** The later of what several rules find. */
export const anyCut =
  (...rules: readonly LastCut[]): LastCut =>
  (bytes, from, to) =>
    rules.reduce((best, rule) => Math.max(best, rule(bytes, Math.max(from, best), to)), -1);

/** Of text that is not well-formed: a character that is cut off takes up to three bytes behind it with it. */
export const awayFromBroken =
  (cut: LastCut): LastCut =>
  (bytes, from, to) => {
    let at = cut(bytes, from, to);
    while (at > 0 && !isAscii(bytes, Math.max(from, at - 4), at)) at = cut(bytes, from, at);
    return at;
  };

function isAscii(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if ((bytes[at] as number) >= 0x80) return false;
  return true;
}

const isLetter = (byte: number | undefined): boolean => {
  const folded = (byte ?? 0) | 0x20;
  return folded >= 0x61 && folded <= 0x7a;
};

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;
