import { MappedText, type Place } from "./mappedText";

/** `words`: what splits as a POSIX shell does and knows nothing else of one (llama-swap, compose). */
export type Shell = "posix" | "powershell" | "cmd" | "words";

/** A word of a command line: its value and where it stands in the text. */
export interface CommandWord extends Place {
  readonly value: string;
  /** The shell puts something else in its place: a variable, an output, a pattern. The value is as it is written. */
  readonly expands?: true;
  /** A text of several words: where its characters stand. */
  readonly inner?: MappedText;
}

/** One simple command: words up to the next `;`, `&`, `|` or line end; its environment assignments come first. */
export interface SimpleCommand {
  readonly words: readonly CommandWord[];
  /** Where it is used, if its program is written elsewhere: an alias, a macro, another stage. */
  readonly used?: Place;
  /** By an image's own entrypoint: nothing that could be started here as it is. */
  readonly isInContainer?: true;
}

/**
 * Splits the words of one command as the shell would: quotes, escapes and continued lines. Variables and substitutions
 * stay as they are written, and so does what would separate commands. Unclosed quotes end with the text; nothing fails.
 */
export function splitCommandLine(text: string, shell: Shell): string[] {
  const { separators, ...ofWords } = rules[shell];
  const blanks = separators.includes("\n") ? "\n" : "";
  const line = { ...ofWords, separators: blanks, redirects: false, groups: "none" } as const;
  return new Splitter(text, line).split().flatMap((command) => command.words.map((word) => word.value));
}

/** The commands in a text that was read out of a document, at their places there. */
export function splitMapped(mapped: MappedText, shell: Shell): SimpleCommand[] {
  return splitCommands(mapped.text, shell).map(({ words }) => ({
    words: words.map((word) => ({
      ...word,
      ...mapped.place(word.start, word.end),
      ...(word.inner && { inner: word.inner.through(mapped) }),
    })),
  }));
}

/** The commands of a script, in order; redirections and here-documents are not among their words. */
export function splitCommands(text: string, shell: Shell): SimpleCommand[] {
  return new Splitter(text, rules[shell]).split();
}

/** What works between two quote characters. */
interface QuoteRule {
  readonly escape: string;
  /** Two of them stand for one. */
  readonly doubled: boolean;
  /** Variables are put in. */
  readonly expands: boolean;
}

interface ShellRules {
  readonly escape: string;
  /** By quote character. */
  readonly quotes: Readonly<Record<string, QuoteRule>>;
  readonly separators: string;
  readonly comment?: string;
  readonly redirects: boolean;
  /** What brackets are: commands of their own everywhere or as lone words, one word up to the closing one, or text. */
  readonly groups: "commands" | "loneCommands" | "word" | "none";
  /** Where a shell puts something else in place of what is written. */
  readonly expansion: RegExp;
  /** The same as a word's first character. */
  readonly leading?: string;
}

const rules: Record<Shell, ShellRules> = {
  posix: {
    escape: "\\",
    quotes: {
      "'": { escape: "", doubled: false, expands: false },
      '"': { escape: "\\", doubled: false, expands: true },
    },
    separators: ";&|\n",
    comment: "#",
    redirects: true,
    groups: "commands",
    expansion: /[$`*?]/,
    leading: "~",
  },
  powershell: {
    escape: "`",
    quotes: {
      "'": { escape: "", doubled: true, expands: false },
      '"': { escape: "`", doubled: true, expands: true },
    },
    separators: ";|\n",
    comment: "#",
    redirects: true,
    groups: "word",
    expansion: /[$(]/,
    leading: "@",
  },
  cmd: {
    escape: "^",
    quotes: { '"': { escape: "", doubled: true, expands: true } },
    separators: "&|\n",
    redirects: true,
    groups: "loneCommands",
    expansion: /%/,
  },
  words: {
    escape: "\\",
    quotes: {
      "'": { escape: "", doubled: false, expands: true },
      '"': { escape: "\\", doubled: false, expands: true },
    },
    separators: "\n",
    redirects: false,
    groups: "none",
    expansion: /\$/,
  },
};

/** Words of the shell in front of a command. */
const keywords: ReadonlySet<string> = new Set([
  "if",
  "then",
  "elif",
  "else",
  "while",
  "until",
  "do",
  "!",
  "{",
  "}",
  "fi",
  "done",
  "esac",
]);

class Splitter {
  private position = 0;
  private word: string | undefined;
  private wordStart = 0;
  private inner = new MappedText();
  private expands = false;
  private quoted = false;
  /** The next word belongs to a redirection; `delimiter`: it ends a here-document. */
  private redirected: "file" | "delimiter" | undefined;
  private readonly delimiters: string[] = [];
  /** Characters that are still searched for the ends of groups. */
  private groupsLeft = mostGrouped;
  private words: CommandWord[] = [];
  private readonly commands: SimpleCommand[] = [];

  constructor(
    private readonly text: string,
    private readonly rules: ShellRules,
  ) {}

  split(): SimpleCommand[] {
    while (this.position < this.text.length) this.step();
    this.endCommand();
    return this.commands;
  }

  private step(): void {
    const { text, rules } = this;
    const char = text[this.position] ?? "";
    const quote = rules.quotes[char];
    if (quote !== undefined) {
      this.readQuoted(char, quote);
      return;
    }
    if (char === rules.escape) {
      this.readEscape();
      return;
    }
    if (char === " " || char === "\t" || char === "\r") {
      this.endWord();
      return;
    }
    if (rules.redirects && this.readRedirection()) return;
    if (rules.groups !== "none" && this.readGroup(char)) return;
    if (rules.separators.includes(char)) {
      this.endCommand();
      this.position++;
      if (char === "\n") this.skipHereDocuments();
      return;
    }
    if (char === rules.comment && this.word === undefined) {
      const end = text.indexOf("\n", this.position);
      this.position = end < 0 ? text.length : end;
      return;
    }
    if (rules.expansion.test(char) || (this.word === undefined && rules.leading === char))
      this.expands = true;
    this.append(char, 1);
  }

  /** `> file`, `2>&1`, `&>`, `*>`, `< file`, `<<WORD`. */
  private readRedirection(): boolean {
    const found = redirection.exec(this.text.slice(this.position, this.position + 8))?.[0];
    if (found === undefined) return false;
    // a number right in front is the stream that is meant
    if (this.word !== undefined && !this.quoted && /^(?:\d+|\*)$/.test(this.word)) this.dropWord();
    else this.closeWord();
    this.position += found.length;
    if (!/[\d-]$/.test(found) || found.startsWith("<<")) {
      this.redirected = /^<<-?$/.test(found) ? "delimiter" : "file";
    }
    return true;
  }

  private readGroup(char: string): boolean {
    const { text, rules } = this;
    const subshell = rules.groups === "commands";
    if (subshell && (char === "`" || (char === "$" && /^[({]/.test(text[this.position + 1] ?? "")))) {
      const opening = char === "`" ? "`" : (text[this.position + 1] ?? "");
      this.appendGroup(opening, char === "`" ? 1 : 2);
      return true;
    }
    if (char === "$" && rules.groups === "word" && text[this.position + 1] === "(") {
      this.appendGroup("(", 2);
      return true;
    }
    if (char === "(") {
      if (subshell ? this.word?.endsWith("=") === true : this.isArgument()) this.appendGroup("(", 1);
      else if (subshell || this.isLone()) this.separate();
      else return false;
      return true;
    }
    if (char !== ")" || (!subshell && !this.isLone())) return false;
    this.separate();
    return true;
  }

  /** A computed argument of PowerShell, not the list of a `param`. */
  private isArgument(): boolean {
    const [first] = this.words;
    return (
      this.rules.groups === "word" && this.word === undefined && !/^(?:param)?$/i.test(first?.value ?? "")
    );
  }

  private isLone(): boolean {
    const next = this.text[this.position + 1] ?? "";
    return this.rules.groups === "loneCommands" && this.word === undefined && /^[\s()]?$/.test(next);
  }

  private separate(): void {
    this.endCommand();
    this.position++;
  }

  /** A substitution stays whole, with the blanks, quotes and brackets in it; one that is not closed ends with its line. */
  private appendGroup(opening: string, length: number): void {
    const start = this.position;
    const closing = opening === "(" ? ")" : opening === "{" ? "}" : "`";
    let depth = 1;
    let end = start + length;
    let quote = "";
    const last = Math.min(this.text.length, start + Math.min(longestGroup, this.groupsLeft));
    for (; end < last && depth > 0; end++) {
      const char = this.text[end] ?? "";
      if (char === "\n" && quote === "" && opening === "`") break;
      if (char === this.rules.escape && quote !== "'") end++;
      else if (quote !== "") quote = char === quote ? "" : quote;
      else if (char === "'" || char === '"') quote = char;
      else if (char === closing) depth--;
      else if (char === opening) depth++;
    }
    this.groupsLeft -= end - start;
    if (depth > 0) {
      const line = this.text.indexOf("\n", start);
      end = line < 0 ? this.text.length : line;
    }
    this.expands = true;
    this.append(this.text.slice(start, end), end - start);
  }

  private skipHereDocuments(): void {
    for (const delimiter of this.delimiters.splice(0)) {
      const rest = this.text.slice(this.position);
      const lines = rest.matchAll(/[^\n]*(?:\n|$)/g);
      for (const [line] of lines) {
        this.position += line.length;
        if (line.trim() === delimiter || line === "") break;
      }
    }
  }

  private readEscape(): void {
    const next = /^\r?\n/.exec(this.text.slice(this.position + 1, this.position + 3))?.[0];
    if (next !== undefined) {
      this.position += 1 + next.length;
      return;
    }
    const escaped = this.text[this.position + 1];
    this.quoted = true;
    if (escaped === undefined) this.position++;
    else this.append(escaped, 2);
  }

  private readQuoted(quote: string, rule: QuoteRule): void {
    this.append("", 1);
    this.quoted = true;
    while (this.position < this.text.length) {
      const char = this.text[this.position] ?? "";
      const next = this.text[this.position + 1];
      if (rule.expands && /[$`%]/.test(char) && this.rules.expansion.test(char)) this.expands = true;
      if (char === rule.escape && next !== undefined && this.escapesInQuotes(next)) this.append(next, 2);
      else if (this.rules.groups === "commands" && rule.expands && char === "$" && next === "(")
        this.appendGroup("(", 2);
      else if (char !== quote) this.append(char, 1);
      else if (rule.doubled && next === quote) this.append(quote, 2);
      else {
        this.position++;
        return;
      }
    }
  }

  /** In POSIX double quotes a backslash escapes only these; elsewhere it stays. */
  private escapesInQuotes(next: string): boolean {
    return this.rules.escape !== "\\" || '"\\$`\n'.includes(next);
  }

  private append(text: string, length: number): void {
    if (this.word === undefined) {
      this.word = "";
      this.wordStart = this.position;
      this.inner = new MappedText();
    }
    this.word += text;
    if (text.length === length) this.inner.addVerbatim(text, this.position);
    else this.inner.add(text, { start: this.position, end: this.position + length });
    this.position += length;
  }

  private endWord(): void {
    this.closeWord();
    this.position++;
  }

  private closeWord(): void {
    const { word, redirected } = this;
    if (word === undefined) return;
    if (redirected === undefined) {
      this.words.push({
        value: word,
        start: this.wordStart,
        end: this.position,
        ...(this.expands && { expands: true }),
        ...(/\s/.test(word) && { inner: this.inner }),
      });
    } else if (redirected === "delimiter") this.delimiters.push(word);
    this.redirected = undefined;
    this.dropWord();
  }

  private dropWord(): void {
    this.word = undefined;
    this.expands = false;
    this.quoted = false;
  }

  private endCommand(): void {
    this.closeWord();
    this.redirected = undefined;
    if (this.rules.groups === "commands") {
      const first = this.words.findIndex(({ value }) => !keywords.has(value));
      this.words = first < 0 ? [] : this.words.slice(first);
    }
    if (this.words.length > 0) this.commands.push({ words: this.words });
    this.words = [];
  }
}

const longestGroup = 10_000;
/** Many groups that are not closed would be searched again and again. */
const mostGrouped = 2 ** 22;
const redirection = /^(?:&>>?|<<<|<<-?|[<>]&(?:\d|-)?|>>|>\||<>|>|<)/;
