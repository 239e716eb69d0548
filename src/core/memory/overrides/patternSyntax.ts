/**
 * The expressions `--override-tensor` takes: C++'s `std::regex` in its ECMAScript grammar, as libstdc++ reads it
 * (regex_scanner.tcc, regex_compiler.tcc). It differs from JavaScript's: it knows `[[:alpha:]]` and no `(?<name>…)`, it counts
 * bytes, and most characters behind a backslash stand for themselves.
 */
export type PatternNode =
  /** One byte of a set: 256 flags. */
  | { readonly kind: "byte"; readonly set: Uint8Array }
  | { readonly kind: "sequence"; readonly nodes: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly nodes: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly node: PatternNode; readonly min: number; readonly max: number }
  | { readonly kind: "begin" | "end" | "wordBoundary" | "noWordBoundary" }
  | { readonly kind: "look"; readonly node: PatternNode; readonly negated: boolean };

/** invalid: llama.cpp cannot read it. The others can be read there, and are not computed here. */
export type PatternProblem = "invalid" | "backReference" | "collation" | "tooLarge";

export type PatternSyntax =
  | { readonly ok: true; readonly node: PatternNode }
  | { readonly ok: false; readonly problem: PatternProblem };

class Unreadable extends Error {
  constructor(readonly problem: PatternProblem) {
    super(problem);
  }
}

/** Longer than any list of layers; nested groups are read recursively. */
const limits = { length: 16_384, depth: 100, quantifiers: 4, repeats: 1000 } as const;

/** The syntax of an expression, one character for each byte. */
export function readPattern(pattern: string): PatternSyntax {
  try {
    if (pattern.length > limits.length) throw new Unreadable("tooLarge");
    return { ok: true, node: new Reader(pattern).whole() };
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, problem: error.problem };
    throw error;
  }
}

const flagsOf = (holds: (byte: number) => boolean): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, byte) => (holds(byte) ? 1 : 0));
const matching = (pattern: RegExp): Uint8Array => flagsOf((byte) => pattern.test(String.fromCharCode(byte)));
const not = (set: Uint8Array): Uint8Array => set.map((flag) => 1 - flag);
const one = (byte: number): Uint8Array => new Uint8Array(256).fill(1, byte, byte + 1);

const digit = matching(/[0-9]/);
const space = matching(/[ \t\n\v\f\r]/);
const word = matching(/[A-Za-z0-9_]/);
const anything = matching(/[^\n\r]/);

/** Of the classic locale. */
const named: ReadonlyMap<string, Uint8Array> = new Map([
  ["d", digit],
  ["w", word],
  ["s", space],
  ["alnum", matching(/[A-Za-z0-9]/)],
  ["alpha", matching(/[A-Za-z]/)],
  ["blank", matching(/[ \t]/)],
  ["cntrl", flagsOf((byte) => byte < 32 || byte === 127)],
  ["digit", digit],
  ["graph", flagsOf((byte) => byte > 32 && byte < 127)],
  ["lower", matching(/[a-z]/)],
  ["print", flagsOf((byte) => byte >= 32 && byte < 127)],
  ["punct", matching(/[!-/:-@[-`{-~]/)],
  ["space", space],
  ["upper", matching(/[A-Z]/)],
  ["xdigit", matching(/[A-Fa-f0-9]/)],
]);

const controls: ReadonlyMap<string, number> = new Map([
  ["0", 0],
  ["b", 8],
  ["f", 12],
  ["n", 10],
  ["r", 13],
  ["t", 9],
  ["v", 11],
]);

/** What is behind a backslash. */
type Escape = { readonly byte: number } | { readonly set: Uint8Array } | { readonly boundary: "b" | "B" };

class Reader {
  private at = 0;
  private depth = 0;

  constructor(private readonly pattern: string) {}

  whole(): PatternNode {
    const node = this.choice();
    if (this.at < this.pattern.length) throw new Unreadable("invalid");
    return node;
  }

  private choice(): PatternNode {
    if (++this.depth > limits.depth) throw new Unreadable("tooLarge");
    const nodes = [this.sequence()];
    while (this.take("|")) nodes.push(this.sequence());
    this.depth -= 1;
    return { kind: "choice", nodes };
  }

  private sequence(): PatternNode {
    const nodes: PatternNode[] = [];
    for (;;) {
      const next = this.pattern.charAt(this.at);
      if (next === "" || next === "|" || next === ")") return { kind: "sequence", nodes };
      const assertion = this.assertion();
      nodes.push(assertion ?? this.quantified(this.atom()));
    }
  }

  private assertion(): PatternNode | undefined {
    if (this.take("^")) return { kind: "begin" };
    if (this.take("$")) return { kind: "end" };
    if (this.take("\\b")) return { kind: "wordBoundary" };
    if (this.take("\\B")) return { kind: "noWordBoundary" };
    if (this.take("(?=")) return { kind: "look", node: this.group(), negated: false };
    if (this.take("(?!")) return { kind: "look", node: this.group(), negated: true };
    return undefined;
  }

  private atom(): PatternNode {
    if (this.take("(?:")) return this.group();
    if (this.pattern.startsWith("(?", this.at)) throw new Unreadable("invalid");
    if (this.take("(")) return this.group();
    if (this.take("[")) return { kind: "byte", set: this.brackets() };
    if (this.take(".")) return { kind: "byte", set: anything };
    const next = this.next();
    if (/[*+?{]/.test(next)) throw new Unreadable("invalid");
    if (next !== "\\") return { kind: "byte", set: one(next.charCodeAt(0)) };
    const escape = this.escape();
    if ("boundary" in escape) throw new Unreadable("invalid");
    return { kind: "byte", set: "set" in escape ? escape.set : one(escape.byte) };
  }

  private group(): PatternNode {
    const node = this.choice();
    if (!this.take(")")) throw new Unreadable("invalid");
    return node;
  }

  private quantified(atom: PatternNode): PatternNode {
    let node = atom;
    for (let quantifiers = 0; ; quantifiers++) {
      const range = this.range();
      if (range === undefined) return node;
      if (quantifiers === limits.quantifiers) throw new Unreadable("tooLarge");
      // as few or as many as possible: whether there is a match is the same
      this.take("?");
      node = { kind: "repeat", node, ...range };
    }
  }

  private range(): { readonly min: number; readonly max: number } | undefined {
    if (this.take("*")) return { min: 0, max: Infinity };
    if (this.take("+")) return { min: 1, max: Infinity };
    if (this.take("?")) return { min: 0, max: 1 };
    if (!this.take("{")) return undefined;
    const min = this.count() ?? this.invalid();
    const max = this.take(",") ? (this.count() ?? Infinity) : min;
    if (!this.take("}") || max < min) throw new Unreadable("invalid");
    if (min > limits.repeats || (max > limits.repeats && max !== Infinity)) throw new Unreadable("tooLarge");
    return { min, max };
  }

  private count(): number | undefined {
    const start = this.at;
    while (/[0-9]/.test(this.pattern.charAt(this.at))) this.at += 1;
    return start === this.at ? undefined : Number(this.pattern.slice(start, this.at));
  }

  private escape(): Escape {
    const next = this.next();
    const control = controls.get(next);
    if (control !== undefined && next !== "b") return { byte: control };
    switch (next) {
      case "b":
      case "B":
        return { boundary: next };
      case "d":
        return { set: digit };
      case "D":
        return { set: not(digit) };
      case "s":
        return { set: space };
      case "S":
        return { set: not(space) };
      case "w":
        return { set: word };
      case "W":
        return { set: not(word) };
      case "c":
        return { byte: this.next().charCodeAt(0) };
      case "x":
        return { byte: this.hexadecimal(2) };
      case "u":
        return { byte: this.hexadecimal(4) & 255 };
    }
    if (/[1-9]/.test(next)) throw new Unreadable("backReference");
    return { byte: next.charCodeAt(0) };
  }

  private hexadecimal(digits: number): number {
    const text = this.pattern.slice(this.at, this.at + digits);
    if (text.length < digits || !/^[0-9a-f]+$/i.test(text)) throw new Unreadable("invalid");
    this.at += digits;
    return Number.parseInt(text, 16);
  }

  /** Behind `[`. A `]` ends it even at once. */
  private brackets(): Uint8Array {
    const negated = this.take("^");
    const set = new Uint8Array(256);
    const add = (more: Uint8Array): void => more.forEach((flag, byte) => (set[byte] ||= flag));
    /** What is before: a character a dash may make the beginning of a range, a class, or neither. */
    let last: number | "class" | undefined;
    while (!this.take("]")) {
      if (this.take("-")) {
        const ends = this.pattern.startsWith("]", this.at);
        if (last === "class" && !ends) throw new Unreadable("invalid");
        if (typeof last !== "number" || ends) {
          if (typeof last === "number") add(one(last));
          last = 45;
        } else {
          const end = this.take("-") ? 45 : this.member();
          if (typeof end !== "number") throw new Unreadable("invalid");
          add(this.between(last, end));
          last = undefined;
        }
        continue;
      }
      if (typeof last === "number") add(one(last));
      const member = this.member();
      last = typeof member === "number" ? member : "class";
      if (typeof member !== "number") add(member);
    }
    if (typeof last === "number") add(one(last));
    return negated ? not(set) : set;
  }

  private between(first: number, last: number): Uint8Array {
    // bytes above 127 are negative numbers to some machines
    if (first > 127 !== last > 127) throw new Unreadable("collation");
    if (first > last) throw new Unreadable("invalid");
    return flagsOf((byte) => byte >= first && byte <= last);
  }

  /** One byte, or a class. */
  private member(): number | Uint8Array {
    const next = this.next();
    if (next === "\\") {
      const escape = this.escape();
      if ("set" in escape) return escape.set;
      if ("byte" in escape) return escape.byte;
      return escape.boundary === "b" ? 8 : this.invalid();
    }
    if (next !== "[" || !/[.:=]/.test(this.pattern.charAt(this.at))) return next.charCodeAt(0);
    const kind = this.next();
    const end = this.pattern.indexOf(`${kind}]`, this.at);
    if (end < 0) throw new Unreadable("invalid");
    if (kind !== ":") throw new Unreadable("collation");
    const name = this.pattern.slice(this.at, end).toLowerCase();
    this.at = end + 2;
    return named.get(name) ?? this.invalid();
  }

  private next(): string {
    const next = this.pattern.charAt(this.at);
    if (next === "") throw new Unreadable("invalid");
    this.at += 1;
    return next;
  }

  private take(text: string): boolean {
    if (!this.pattern.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  private invalid(): never {
    throw new Unreadable("invalid");
  }
}
