import { unicodeClassRuns } from "./unicodeData";

/** Bits of a code point's class. Exactly one of the first seven is set; `kanaOrHan` is DeepSeek's own extra class. */
export const letter = 1;
export const number = 2;
export const space = 4;
export const mark = 8;
export const punctuation = 16;
export const symbol = 32;
export const other = 64;
export const kanaOrHan = 128;

const codePoints = 0x110000;

const bits: Readonly<Record<string, number>> = {
  L: letter,
  N: number,
  W: space,
  M: mark,
  P: punctuation,
  S: symbol,
};

let table: Uint8Array | undefined;

/** The class bits of every code point. White space wins over the category, as llama.cpp has it. */
export function unicodeClasses(): Uint8Array {
  if (table) return table;
  table = new Uint8Array(codePoints);
  for (const run of runs()) table.fill(bits[run.name] ?? other, run.start, run.end);
  for (let code = 0x3040; code <= 0x30ff; code++) table[code] = (table[code] as number) | kanaOrHan;
  for (let code = 0x4e00; code <= 0x9fa5; code++) table[code] = (table[code] as number) | kanaOrHan;
  return table;
}

let assigned: Uint8Array | undefined;

const unassigned = 0;
const controlOrFormat = 2;

function assignment(): Uint8Array {
  if (assigned) return assigned;
  assigned = new Uint8Array(codePoints).fill(1);
  for (const run of runs()) {
    if (run.name === "U") assigned.fill(unassigned, run.start, run.end);
    if (run.name === "C") assigned.fill(controlOrFormat, run.start, run.end);
  }
  return assigned;
}

/** Control, format or private use. */
export const isControl = (code: number): boolean => assignment()[code] === controlOrFormat;

/**
 * The simple lower case. Unicode never changes the mappings of assigned code points, so the host's are llama.cpp's
 * wherever llama.cpp knows the code point.
 */
export function toLower(code: number): number {
  if (code < 0x80) return code >= 0x41 && code <= 0x5a ? code + 32 : code;
  if (isSurrogate(code) || assignment()[code] === unassigned) return code;
  return String.fromCodePoint(code).toLowerCase().codePointAt(0) ?? code;
}

/** First code point of the canonical decomposition: llama.cpp keeps the base letter only. */
export function toBase(code: number): number {
  if (code < 0xc0 || isSurrogate(code) || assignment()[code] === unassigned) return code;
  return String.fromCodePoint(code).normalize("NFD").codePointAt(0) ?? code;
}

export const isSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdfff;

function* runs(): Generator<{ name: string; start: number; end: number }> {
  let start = 0;
  for (const match of unicodeClassRuns.matchAll(/([A-Z])([0-9a-z]+)/g)) {
    const end = start + parseInt(match[2] ?? "", 36);
    yield { name: match[1] ?? "", start, end };
    start = end;
  }
}
