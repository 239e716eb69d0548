import {
  isSurrogate,
  letter,
  mark,
  number,
  punctuation,
  space,
  symbol,
  unicodeClasses,
} from "../unicode/unicodeClasses";
import { codePointAt, utf8Width } from "../unicode/utf8";

/** One step of a multi-step pre-tokenizer; every step splits the pieces of the one before. */
export type SplitStep =
  /** A pattern over llama.cpp's collapsed text: one character per code point, non-ASCII ones by their category. */
  | { readonly kind: "collapsed"; readonly pattern: RegExp }
  /** A pattern over the code points themselves, with every non-ASCII white space as a vertical tab. */
  | { readonly kind: "wide"; readonly pattern: RegExp }
  /** Cuts of a step that llama.cpp wrote by hand. */
  | { readonly kind: "cuts"; readonly cuts: (collapsed: string) => number[] };

const collapsedLetters: Readonly<Record<number, string>> = {
  [number]: "\xD1",
  [letter]: "\xD2",
  [punctuation]: "\xD3",
  [mark]: "\xD4",
  [symbol]: "\xD5",
  [space]: "\x0B",
};
const collapsedOther = "\xD0";
/** U+200C and U+200D: letters to K2 Horizon, and like any other to everything else. */
const collapsedJoiner = "\xD6";

const asciiOf: Readonly<Record<string, string>> = {
  N: "0-9",
  L: "A-Za-z",
  P: "!-#%-*,-/:;?-@\\[-\\]_\\{\\}",
  M: "",
  S: "\\$+<->^`|~",
};
const collapsedOf: Readonly<Record<string, string>> = {
  N: "\xD1",
  L: "\xD2",
  P: "\xD3",
  M: "\xD4",
  S: "\xD5",
};

/** A std::regex pattern with `\p{…}`, rewritten for the collapsed text as llama.cpp rewrites it. */
export function collapsed(pattern: string): SplitStep {
  let inside = false;
  const rewritten = pattern.replace(/\\p\{(\w)\w*\}|\\.|\[|\]/g, (found, category: string | undefined) => {
    if (category !== undefined) {
      const members = (collapsedOf[category] ?? "") + (asciiOf[category] ?? "");
      return inside ? members : `[${members}]`;
    }
    if (found === "[") inside = true;
    if (found === "]") inside = false;
    return cppClass(found, inside);
  });
  return { kind: "collapsed", pattern: new RegExp(rewritten, "g") };
}

/** A pattern without `\p{…}`: llama.cpp runs it over wide characters. */
export function wide(pattern: string): SplitStep {
  let inside = false;
  const rewritten = pattern.replace(/\\.|\[|\]/g, (found) => {
    if (found === "[") inside = true;
    if (found === "]") inside = false;
    return cppClass(found, inside);
  });
  return { kind: "wide", pattern: new RegExp(rewritten, "gu") };
}

/** C++'s `\s` knows ASCII only; JavaScript's knows more. */
function cppClass(found: string, inside: boolean): string {
  const blanks = "\\t\\n\\v\\f\\r ";
  if (found === "\\s") return inside ? blanks : `[${blanks}]`;
  if (found === "\\S") return `[^${blanks}]`;
  return found;
}

/** Ends (byte positions) of the pieces of well-formed text. */
export type SplitPieces = (bytes: Uint8Array, start: number, end: number) => Uint32Array;

export function regexSplitter(steps: readonly SplitStep[]): SplitPieces {
  const needsWide = steps.some((step) => step.kind === "wide");
  return (bytes, start, end) => {
    const text = decode(bytes, start, end, needsWide);
    let pieces: number[] = [text.collapsed.length];
    for (const step of steps) pieces = split(step, text, pieces);
    const ends = new Uint32Array(pieces.length);
    let at = start;
    let index = 0;
    pieces.forEach((length, i) => {
      for (const stop = index + length; index < stop; index++) at += utf8Width(bytes[at] as number);
      ends[i] = at;
    });
    return ends;
  };
}

/** Two halves in bytes would join to one character of JavaScript's; this one is in the same classes of every pattern. */
const lone = 0xe000;

interface DecodedText {
  readonly collapsed: string;
  readonly wide: string;
  /** Position in `wide` of every code point and of the end; absent where they are the same. */
  readonly units?: Uint32Array;
}

function decode(bytes: Uint8Array, start: number, end: number, needsWide: boolean): DecodedText {
  const classes = unicodeClasses();
  const collapsedUnits = new Uint8Array(end - start);
  const wideUnits = new Uint32Array(needsWide ? end - start : 0);
  let count = 0;
  let astral = false;
  for (let at = start; at < end; at += utf8Width(bytes[at] as number)) {
    const byte = bytes[at] as number;
    if (byte < 0x80) {
      collapsedUnits[count] = byte;
      if (needsWide) wideUnits[count] = byte;
    } else {
      const code = codePointAt(bytes, at);
      const kind = (classes[code] as number) & 0x7f;
      const joins = code === 0x200c || code === 0x200d;
      const unit = joins ? collapsedJoiner : (collapsedLetters[kind] ?? collapsedOther);
      collapsedUnits[count] = unit.charCodeAt(0);
      if (needsWide) wideUnits[count] = kind === space ? 0x0b : isSurrogate(code) ? lone : code;
      if (code > 0xffff) astral = true;
    }
    count++;
  }
  const collapsedText = fromCodes(collapsedUnits.subarray(0, count));
  if (!needsWide) return { collapsed: collapsedText, wide: "" };
  const codes = wideUnits.subarray(0, count);
  const wideText = fromCodes(codes);
  if (!astral) return { collapsed: collapsedText, wide: wideText };
  const units = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) {
    units[i + 1] = (units[i] as number) + ((codes[i] as number) > 0xffff ? 2 : 1);
  }
  return { collapsed: collapsedText, wide: wideText, units };
}

function fromCodes(codes: Uint8Array | Uint32Array): string {
  let text = "";
  for (let i = 0; i < codes.length; i += 4096) {
    // eslint-disable-next-line no-restricted-syntax -- never more than these
    text += String.fromCodePoint(...codes.subarray(i, i + 4096));
  }
  return text;
}

function split(step: SplitStep, text: DecodedText, pieces: readonly number[]): number[] {
  const out: number[] = [];
  let start = 0;
  for (const length of pieces) {
    const end = start + length;
    if (step.kind === "cuts") {
      let before = 0;
      for (const cut of step.cuts(text.collapsed.slice(start, end))) {
        if (cut > before) out.push(cut - before);
        before = cut;
      }
      if (length > before) out.push(length - before);
    } else if (step.kind === "collapsed" || text.units === undefined) {
      splitPiece(
        step.pattern,
        step.kind === "wide" ? text.wide.slice(start, end) : text.collapsed.slice(start, end),
        out,
        (unit) => unit,
      );
    } else {
      const { units } = text;
      const first = units[start] as number;
      let code = start;
      splitPiece(step.pattern, text.wide.slice(first, units[end]), out, (unit) => {
        while ((units[code] as number) < first + unit) code++;
        return code - start;
      });
    }
    start = end;
  }
  return out;
}

/** Lengths of matches and of the text between them; `toIndex` is called with growing positions. */
function splitPiece(pattern: RegExp, text: string, out: number[], toIndex: (unit: number) => number): void {
  let before = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const from = toIndex(match.index);
    const to = toIndex(match.index + match[0].length);
    if (from > before) out.push(from - before);
    if (to > from) out.push(to - from);
    before = to;
    if (match[0].length === 0) pattern.lastIndex += 1;
  }
  const length = toIndex(text.length);
  if (length > before) out.push(length - before);
}

/**
 * AFMoE's digits, as llama.cpp cuts them: a run falls into groups of three from its end, and the text before the run
 * stays with its first group.
 */
export function afmoeDigits(text: string): number[] {
  const cuts: number[] = [];
  for (const match of text.matchAll(/[0-9\xD1]+/g)) {
    const { length } = match[0];
    for (let at = length % 3 === 0 ? 3 : length % 3; at <= length; at += 3) cuts.push(match.index + at);
  }
  return cuts;
}

/** SuperBPE's `(?=(\d{3})+(?!\d))`: before every third digit from the end of a run. */
export function superbpeDigits(text: string): number[] {
  const cuts: number[] = [];
  for (const match of text.matchAll(/[0-9]+/g)) {
    const { length } = match[0];
    for (let at = length % 3; at < length; at += 3) cuts.push(match.index + at);
  }
  return cuts;
}
