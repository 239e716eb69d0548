import {
  letter,
  mark,
  number,
  other,
  punctuation,
  space,
  symbol,
  unicodeClasses,
} from "./kernel/unicodeClasses";

/** A long run of characters of one class. */
export interface LongRun {
  /** Line where it begins, from 1. */
  readonly line: number;
  /** Characters. */
  readonly length: number;
}

/**
 * From this many characters of one class on, llama.cpp builds whose std::regex recurses once per character may crash
 * while they split the text: measured 23 703 to 25 110 with the gpt-4o, tekken, deepseek-v3 and deepseek-coder
 * families (node-llama-cpp 3.21.1, main thread); see ggml-org/llama.cpp#27783. Families with a splitter of their own
 * are not affected.
 */
export const riskyRun = 20_000;

const words = letter | mark;
const symbols = mark | punctuation | symbol | other;

/** The longest run of letters, of symbols or of white space that has at least `atLeast` characters. */
export function longestRun(text: string, atLeast = riskyRun): LongRun | undefined {
  if (text.length < atLeast) return undefined;
  const classes = unicodeClasses();
  let longest: LongRun | undefined;
  let line = 1;
  let started = 1;
  let length = 0;
  let running = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) ?? 0;
    if (code > 0xffff) at++;
    const kind = groupOf(classes[code] as number);
    if ((kind & running) === 0) {
      running = kind;
      length = 0;
      started = line;
    } else {
      running &= kind;
    }
    length++;
    if (length >= atLeast && length > (longest?.length ?? 0)) longest = { line: started, length };
    if (code === 0x0a) line++;
  }
  return longest;
}

/** Digits are taken a few at a time by every family: they are no run. */
function groupOf(kind: number): number {
  if ((kind & number) !== 0) return 0;
  if ((kind & space) !== 0) return 1;
  return ((kind & words) !== 0 ? 2 : 0) | ((kind & symbols) !== 0 ? 4 : 0);
}
