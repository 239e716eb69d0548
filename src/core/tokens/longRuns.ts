import {
  letter,
  mark,
  number,
  other,
  punctuation,
  space,
  symbol,
  unicodeClasses,
} from "./unicode/unicodeClasses";
import { codePointAt, utf8Width } from "./unicode/utf8";

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
 * are not affected. Of digits 23 000 passed and 24 000 did not with the families default, deepseek-llm, superbpe, bloom
 * and viking; gpt-4o, tekken, deepseek-v3 and deepseek-coder take a few digits at a time, and are warned of all the same.
 */
export const riskyRun = 20_000;

const groups = [space, number, letter | mark, mark | punctuation | symbol | other];

/**
 * The longest run of letters, of digits, of symbols or of white space that has at least `atLeast` characters. A run that long covers
 * every so many bytes one that is looked at, so that text without any costs next to nothing.
 */
export function longestRun(text: Uint8Array, atLeast = riskyRun): LongRun | undefined {
  let longest: { start: number; length: number } | undefined;
  const ends = groups.map(() => 0);
  for (let probe = atLeast - 1; probe < text.length; probe += atLeast) {
    const at = startOf(text, probe);
    groups.forEach((group, i) => {
      if (at < (ends[i] as number) || !isOf(group, text, at)) return;
      let start = at;
      while (start > 0 && isOf(group, text, startOf(text, start - 1))) start = startOf(text, start - 1);
      let length = 0;
      let end = start;
      for (; end < text.length && isOf(group, text, end); end += utf8Width(text[end] as number)) length++;
      ends[i] = end;
      if (length >= atLeast && length > (longest?.length ?? 0)) longest = { start, length };
    });
  }
  return longest && { line: lineOf(text, longest.start), length: longest.length };
}

/** Where the character begins that the byte at `at` belongs to. */
function startOf(text: Uint8Array, at: number): number {
  let start = at;
  while (start > 0 && ((text[start] as number) & 0xc0) === 0x80) start--;
  return start;
}

const isOf = (group: number, text: Uint8Array, at: number): boolean =>
  ((unicodeClasses()[codePointAt(text, at)] as number) & group) !== 0;

function lineOf(text: Uint8Array, at: number): number {
  let line = 1;
  for (let i = text.indexOf(10); i >= 0 && i < at; i = text.indexOf(10, i + 1)) line++;
  return line;
}
