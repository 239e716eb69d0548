/**
 * What a text is made of, in the pieces vocabularies are learnt on: runs of letters cut at changes of case, digits,
 * punctuation, line breaks, characters by script. Tokens are close to a weighted sum of them.
 */
export const featureNames = [
  "freshShort", // word of 1–3 ASCII letters after a space or at the start of a line
  "freshMedium", // 4–6
  "freshLong", // 7–10
  "freshHuge", // 11 and more
  "gluedShort", // the same after a letter, digit or sign
  "gluedMedium",
  "gluedLong",
  "gluedHuge",
  "hugeLetters", // letters past the 10th
  "capitalRuns", // runs of two and more capitals
  "capitals", // letters in them past the second
  "digits",
  "signRuns", // runs of ASCII punctuation
  "signs", // characters in them past the first
  "repeatedSigns", // characters equal to the two before them
  "lineBreaks", // runs of line ends and the indentation after them
  "spaceRuns", // two and more spaces or tabs within a line
  "latin",
  "greek",
  "cyrillic",
  "arabicHebrew",
  "southAsian", // and Thai, Lao
  "rareScripts",
  "han", // and kana
  "hangul",
  "symbols", // other characters of the basic plane
  "astral", // characters past it: emoji, rare scripts
  "noise", // characters of long runs of letters and digits: base64, hashes
] as const;

export type FeatureName = (typeof featureNames)[number];

const index = Object.fromEntries(featureNames.map((name, at) => [name, at])) as Record<FeatureName, number>;

const wordKinds = {
  fresh: [index.freshShort, index.freshMedium, index.freshLong, index.freshHuge],
  glued: [index.gluedShort, index.gluedMedium, index.gluedLong, index.gluedHuge],
} as const;

const isLower = (code: number): boolean => code >= 97 && code <= 122;
const isUpper = (code: number): boolean => code >= 65 && code <= 90;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isBreak = (code: number): boolean => code === 10 || code === 13;
const isBlank = (code: number): boolean => code === 32 || code === 9;
const isAlphanumeric = (code: number): boolean => isLower(code) || isUpper(code) || isDigit(code);
const isSign = (code: number): boolean => code > 32 && code < 127 && !isAlphanumeric(code);

/** Adds the features of `text` from `start` to `end` to `into`; one pass, a few nanoseconds per character. */
export function addFeatures(text: string, start: number, end: number, into: Float64Array): void {
  const add = (at: number, amount: number): void => {
    into[at] = (into[at] ?? 0) + amount;
  };
  let i = start;
  let fresh = true;
  let runEnd = start;
  while (i < end) {
    const code = text.charCodeAt(i);
    if (i >= runEnd && code < 128 && isAlphanumeric(code)) {
      const run = runOf(text, i, end);
      runEnd = run.end;
      if (run.noisy) {
        add(index.noise, runEnd - i);
        i = runEnd;
        fresh = false;
        continue;
      }
    }
    if (isLower(code) || isUpper(code)) {
      let j = i + 1;
      if (isUpper(code)) while (j < end && isUpper(text.charCodeAt(j))) j++;
      const capitals = isUpper(code) ? j - i : 0;
      if (capitals >= 2) {
        // In "HTTPServer" the last capital belongs to the word after the run.
        if (j < end && isLower(text.charCodeAt(j)) && capitals > 2) j--;
        add(index.capitalRuns, 1);
        add(index.capitals, j - i - 2);
      } else {
        while (j < end && isLower(text.charCodeAt(j))) j++;
        const length = j - i;
        const bucket = length <= 3 ? 0 : length <= 6 ? 1 : length <= 10 ? 2 : 3;
        add((fresh ? wordKinds.fresh : wordKinds.glued)[bucket], 1);
        if (length > 10) add(index.hugeLetters, length - 10);
      }
      i = j;
      fresh = false;
    } else if (isBlank(code)) {
      let j = i + 1;
      while (j < end && isBlank(text.charCodeAt(j))) j++;
      if (j - i > 1) add(index.spaceRuns, 1);
      i = j;
      fresh = true;
    } else if (isBreak(code)) {
      let j = i + 1;
      while (j < end && (isBreak(text.charCodeAt(j)) || isBlank(text.charCodeAt(j)))) j++;
      add(index.lineBreaks, 1);
      i = j;
      fresh = true;
    } else if (isDigit(code)) {
      add(index.digits, 1);
      i++;
      fresh = false;
    } else if (code < 128) {
      let j = i + 1;
      let repeated = 0;
      while (j < end && isSign(text.charCodeAt(j))) {
        if (
          j - i >= 2 &&
          text.charCodeAt(j) === text.charCodeAt(j - 1) &&
          text.charCodeAt(j) === text.charCodeAt(j - 2)
        ) {
          repeated++;
        }
        j++;
      }
      add(index.signRuns, 1);
      add(index.signs, j - i - 1 - repeated);
      add(index.repeatedSigns, repeated);
      i = j;
      fresh = false;
    } else {
      const [feature, length] = script(code);
      add(feature, 1);
      i += length;
      fresh = false;
    }
  }
}

/** Random text changes between small letters, capitals and digits far more often than names do. */
function runOf(text: string, start: number, end: number): { readonly end: number; readonly noisy: boolean } {
  let changes = 0;
  let previous = 0;
  let i = start;
  for (; i < end; i++) {
    const code = text.charCodeAt(i);
    const kind = isLower(code) ? 1 : isUpper(code) ? 2 : isDigit(code) ? 3 : 0;
    if (kind === 0) break;
    if (previous !== 0 && kind !== previous) changes++;
    previous = kind;
  }
  return { end: i, noisy: i - start >= 16 && changes > 0.35 * (i - start) };
}

function script(code: number): readonly [feature: number, length: number] {
  if (code < 0x250) return [index.latin, 1];
  if (code < 0x370) return [index.symbols, 1];
  if (code < 0x400) return [index.greek, 1];
  if (code < 0x530) return [index.cyrillic, 1];
  if (code < 0x590) return [index.rareScripts, 1];
  if (code < 0x800) return [index.arabicHebrew, 1];
  if (code >= 0xac00 && code < 0xd7b0) return [index.hangul, 1];
  if (code >= 0x900 && code < 0xf00) return [index.southAsian, 1];
  if (code < 0x1e00) return [index.rareScripts, 1];
  if (code < 0x2000) return [index.latin, 1];
  if (code >= 0x3040 && code < 0xa000) return [index.han, 1];
  if (code >= 0xd800 && code < 0xdc00) return [index.astral, 2];
  if (code >= 0xfb1d && code < 0xff00) return [index.arabicHebrew, 1];
  return [index.symbols, 1];
}
