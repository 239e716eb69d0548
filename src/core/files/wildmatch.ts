/**
 * git's pattern matcher (wildmatch.c). For git it is given strings of bytes: one code unit is one byte of UTF-8 (see
 * `byteString`), so that `?` and `[…]` mean in names outside ASCII what they mean to git. No regular expression: a hostile
 * pattern costs at most `maxSteps` (all patterns for one name at most `mostSteps`) and then matches nothing.
 */
export interface WildmatchOptions {
  /** `*` and `?` stop at `/`, `**` between slashes does not. */
  readonly pathname: boolean;
  /** ASCII letters match either case (file systems of macOS and Windows). */
  readonly ignoreCase: boolean;
  /** For all the patterns that are tried on one name. */
  readonly budget?: StepBudget;
}

export interface StepBudget {
  left: number;
}

const maxSteps = 100_000;
/** A thousand real rules take a tenth of it for one name. */
export const mostSteps = 2 ** 20;
/** Calls within each other: one for every star. */
const maxDepth = 500;

type Outcome = "match" | "noMatch" | "abortAll" | "abortToStarStar";

const ch = {
  star: 42,
  slash: 47,
  colon: 58,
  question: 63,
  minus: 45,
  bang: 33,
  open: 91,
  backslash: 92,
  close: 93,
  caret: 94,
} as const;

export function wildmatch(pattern: string, text: string, options: WildmatchOptions): boolean {
  const fold = options.ignoreCase ? foldAscii : (value: string) => value;
  const budget = options.budget ?? { left: maxSteps };
  const run = new Run(fold(pattern), fold(text), options.pathname, Math.min(maxSteps, budget.left));
  const matches = run.match(0, 0) === "match";
  budget.left -= run.steps;
  return matches;
}

/** The bytes of the text's UTF-8 as code units 0…255; the text itself where it is ASCII. */
export function byteString(text: string): string {
  let ascii = true;
  for (let i = 0; ascii && i < text.length; i++) ascii = text.charCodeAt(i) < 128;
  if (ascii) return text;
  let out = "";
  for (const byte of new TextEncoder().encode(text)) out += String.fromCharCode(byte);
  return out;
}

export function foldAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

/** Is there anything in it that is not just itself? */
export const isGlobSpecial = (code: number): boolean =>
  code === ch.star || code === ch.question || code === ch.open || code === ch.backslash;

class Run {
  steps = 0;
  private depth = 0;

  constructor(
    private readonly pattern: string,
    private readonly text: string,
    private readonly pathname: boolean,
    private readonly limit: number,
  ) {}

  /** 0 stands for the end of either string, as in C. */
  private at(string: string, index: number): number {
    return index < string.length ? string.charCodeAt(index) : 0;
  }

  match(patternStart: number, textStart: number): Outcome {
    if (this.depth >= maxDepth) return "abortAll";
    this.depth++;
    const outcome = this.matchFrom(patternStart, textStart);
    this.depth--;
    return outcome;
  }

  private matchFrom(patternStart: number, textStart: number): Outcome {
    const { pattern, text, pathname } = this;
    let p = patternStart;
    let t = textStart;
    for (; p < pattern.length; p++, t++) {
      if (++this.steps > this.limit) return "abortAll";
      const code = this.at(pattern, p);
      const char = this.at(text, t);
      if (char === 0 && code !== ch.star) return "abortAll";
      switch (code) {
        case ch.backslash:
          p++;
          if (this.at(pattern, p) !== char) return "noMatch";
          break;
        case ch.question:
          if (pathname && char === ch.slash) return "noMatch";
          break;
        case ch.open: {
          const end = this.bracket(p, char);
          if (end.kind === "malformed") return "abortAll";
          if (!end.matches || (pathname && char === ch.slash)) return "noMatch";
          p = end.close;
          break;
        }
        case ch.star: {
          const star = this.star(p, t, patternStart);
          if (typeof star === "string") return star;
          p = star.p;
          t = star.t;
          break;
        }
        default:
          if (code !== char) return "noMatch";
      }
    }
    return t < text.length ? "noMatch" : "match";
  }

  /** Either the outcome of the whole match, or where to go on (after the slash a lone `*` was followed by). */
  private star(start: number, textStart: number, patternStart: number): Outcome | { p: number; t: number } {
    const { pattern, text, pathname } = this;
    let p = start + 1;
    const t = textStart;
    let matchSlash = !pathname;
    if (this.at(pattern, p) === ch.star) {
      const before = start - 1;
      while (this.at(pattern, p) === ch.star) p++;
      const next = this.at(pattern, p);
      const opens = before < patternStart || this.at(pattern, before) === ch.slash;
      const closes =
        next === 0 || next === ch.slash || (next === ch.backslash && this.at(pattern, p + 1) === ch.slash);
      if (pathname && opens && closes) {
        if (next === ch.slash && this.match(p + 1, t) === "match") return "match";
        matchSlash = true;
      }
    }
    if (p >= pattern.length) return !matchSlash && text.includes("/", t) ? "noMatch" : "match";
    if (!matchSlash && this.at(pattern, p) === ch.slash) {
      const slash = text.indexOf("/", t);
      return slash < 0 ? "noMatch" : { p, t: slash };
    }
    return this.afterStar(p, t, matchSlash);
  }

  private afterStar(p: number, textStart: number, matchSlash: boolean): Outcome {
    const { pattern, text } = this;
    const literal = this.at(pattern, p);
    let t = textStart;
    while (t < text.length) {
      if (++this.steps > this.limit) return "abortAll";
      if (!isGlobSpecial(literal)) {
        while (
          t < text.length &&
          this.at(text, t) !== literal &&
          (matchSlash || this.at(text, t) !== ch.slash)
        ) {
          t++;
        }
        if (this.at(text, t) !== literal) return "noMatch";
      }
      const outcome = this.match(p, t);
      if (outcome !== "noMatch") {
        if (!matchSlash || outcome !== "abortToStarStar") return outcome;
      } else if (!matchSlash && this.at(text, t) === ch.slash) {
        return "abortToStarStar";
      }
      t++;
    }
    return "abortAll";
  }

  private bracket(
    open: number,
    char: number,
  ): { kind: "malformed" } | { kind: "set"; matches: boolean; close: number } {
    const { pattern } = this;
    let p = open + 1;
    let code = this.at(pattern, p);
    const negated = code === ch.bang || code === ch.caret;
    if (negated) code = this.at(pattern, ++p);
    let previous = 0;
    let matched = false;
    do {
      if (code === 0) return { kind: "malformed" };
      const next = this.at(pattern, p + 1);
      if (code === ch.backslash) {
        code = this.at(pattern, ++p);
        if (code === 0) return { kind: "malformed" };
        if (char === code) matched = true;
      } else if (code === ch.minus && previous !== 0 && next !== 0 && next !== ch.close) {
        code = this.at(pattern, ++p);
        if (code === ch.backslash) {
          code = this.at(pattern, ++p);
          if (code === 0) return { kind: "malformed" };
        }
        if (char >= previous && char <= code) matched = true;
        code = 0;
      } else if (code === ch.open && next === ch.colon) {
        const end = pattern.indexOf("]", p + 2);
        if (end < 0) return { kind: "malformed" };
        if (end - 1 >= p + 2 && this.at(pattern, end - 1) === ch.colon) {
          const inClass = characterClass(pattern.slice(p + 2, end - 1), char);
          if (inClass === undefined) return { kind: "malformed" };
          if (inClass) matched = true;
          p = end;
          code = 0;
        } else if (char === ch.open) {
          matched = true;
        }
      } else if (char === code) {
        matched = true;
      }
      previous = code;
      code = this.at(pattern, ++p);
    } while (code !== ch.close);
    return { kind: "set", matches: matched !== negated, close: p };
  }
}

function characterClass(name: string, code: number): boolean | undefined {
  const lower = code >= 97 && code <= 122;
  const upper = code >= 65 && code <= 90;
  const digit = code >= 48 && code <= 57;
  const graph = code > 32 && code < 127;
  switch (name) {
    case "alnum":
      return lower || upper || digit;
    case "alpha":
      return lower || upper;
    case "blank":
      return code === 32 || code === 9;
    case "cntrl":
      return code < 32 || code === 127;
    case "digit":
      return digit;
    case "graph":
      return graph;
    case "lower":
      return lower;
    case "print":
      return graph || code === 32;
    case "punct":
      return graph && !(lower || upper || digit);
    case "space":
      return code === 32 || (code >= 9 && code <= 13);
    case "upper":
      return upper;
    case "xdigit":
      return digit || (code >= 97 && code <= 102) || (code >= 65 && code <= 70);
    default:
      return undefined;
  }
}
