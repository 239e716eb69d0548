import { byteString, foldAscii, isGlobSpecial, mostSteps, wildmatch, type StepBudget } from "./wildmatch";

/** One line of an ignore file, prepared. */
interface IgnoreRule {
  readonly line: number;
  readonly source: string;
  readonly negative: boolean;
  readonly folderOnly: boolean;
  readonly matches: (path: string, name: string, budget: StepBudget) => boolean;
}

/**
 * The rules of one ignore file, in gitignore's syntax and meaning (git's dir.c). Why not the package `ignore` (7.0.17):
 * `node bench/ignore.mjs` finds 36 of its 23,870 answers other than git's (`?` and letters outside ASCII), none of these,
 * and a rule made to never end in an untrusted folder does not end there.
 */
export interface IgnoreFile {
  readonly origin: string;
  readonly rules: readonly IgnoreRule[];
}

export interface IgnoreMatch {
  readonly ignored: boolean;
  /** "src/.gitignore:3: *.log" */
  readonly rule: string;
}

/** @param origin how the file is named in `IgnoreMatch.rule`. */
export function parseIgnoreFile(text: string, origin: string, ignoreCase: boolean): IgnoreFile {
  const rules: IgnoreRule[] = [];
  const lines = text.replace(/^\uFEFF/, "").split("\n");
  lines.forEach((raw, index) => {
    const line = (raw.endsWith("\r") ? raw.slice(0, -1) : raw).split("\0", 1)[0] ?? "";
    if (line === "" || line.startsWith("#")) return;
    rules.push(compile(trimTrailingSpaces(line), index + 1, ignoreCase));
  });
  return { origin, rules };
}

/**
 * What the file says about one path by itself: the last rule that matches decides; nothing where none does. Whether a
 * folder above is ignored is the caller's to know, as in git: an ignored folder is never entered.
 * @param path relative to the folder of the ignore file, with `/`.
 */
export function matchIgnoreFile(file: IgnoreFile, path: string, folder: boolean): IgnoreMatch | undefined {
  if (file.rules.length === 0) return undefined;
  const bytes = byteString(path);
  const name = bytes.slice(bytes.lastIndexOf("/") + 1);
  const budget = { left: mostSteps };
  for (let i = file.rules.length - 1; i >= 0; i--) {
    const rule = file.rules[i];
    if (rule === undefined || (rule.folderOnly && !folder) || !rule.matches(bytes, name, budget)) continue;
    return { ignored: !rule.negative, rule: `${file.origin}:${rule.line}: ${rule.source}` };
  }
  return undefined;
}

/** Spaces at the end do not count unless the last of them is escaped. */
function trimTrailingSpaces(line: string): string {
  let end = line.length;
  let spaces = -1;
  for (let i = 0; i < line.length; i++) {
    const char = line[i];
    if (char === " ") {
      if (spaces < 0) spaces = i;
    } else {
      if (char === "\\") i++;
      spaces = -1;
      if (i >= line.length) return line;
    }
  }
  if (spaces >= 0) end = spaces;
  return line.slice(0, end);
}

function compile(source: string, line: number, ignoreCase: boolean): IgnoreRule {
  let pattern = byteString(source);
  const negative = pattern.startsWith("!");
  if (negative) pattern = pattern.slice(1);
  const folderOnly = pattern.endsWith("/");
  if (folderOnly) pattern = pattern.slice(0, -1);
  const fold = ignoreCase ? foldAscii : (value: string) => value;
  const matches = pattern.includes("/") ? pathMatcher(pattern, fold) : nameMatcher(pattern, fold, ignoreCase);
  return { line, source, negative, folderOnly, matches };
}

type Fold = (text: string) => string;

function nameMatcher(raw: string, fold: Fold, ignoreCase: boolean): IgnoreRule["matches"] {
  const pattern = fold(raw);
  if (literalLength(pattern) === pattern.length) return (_, name) => fold(name) === pattern;
  const suffix = pattern.slice(1);
  if (pattern.startsWith("*") && literalLength(suffix) === suffix.length) {
    return (_, name) => fold(name).endsWith(suffix);
  }
  return (_, name, budget) => wildmatch(pattern, name, { pathname: false, ignoreCase, budget });
}

/** git compares the part before the first wildcard itself and matches the rest as a pattern of its own; so do we. */
function pathMatcher(raw: string, fold: Fold): IgnoreRule["matches"] {
  const pattern = fold(raw.startsWith("/") ? raw.slice(1) : raw);
  const literal = literalLength(pattern);
  const head = pattern.slice(0, literal);
  const rest = pattern.slice(literal);
  return (path, _, budget) => {
    const folded = fold(path);
    if (!folded.startsWith(head)) return false;
    const tail = folded.slice(literal);
    if (rest === "" && tail === "") return true;
    return wildmatch(rest, tail, { pathname: true, ignoreCase: false, budget });
  };
}

function literalLength(pattern: string): number {
  for (let i = 0; i < pattern.length; i++) if (isGlobSpecial(pattern.charCodeAt(i))) return i;
  return pattern.length;
}
