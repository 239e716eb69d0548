export type Shell = "posix" | "powershell" | "cmd";

/** A word of a command line: its value and where it stands in the text (UTF-16 offsets, end exclusive). */
export interface CommandWord {
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

/** One simple command: words up to the next `;`, `&`, `|` or line end; its environment assignments come first. */
export interface SimpleCommand {
  readonly words: readonly CommandWord[];
}

/**
 * Splits a command line into words as the shell would: quotes, escapes and continued lines. Variables and substitutions
 * stay as they are written. Unclosed quotes end with the text; nothing fails.
 */
export function splitCommandLine(text: string, shell: Shell): string[] {
  return splitCommands(text, shell).flatMap((command) => command.words.map((word) => word.value));
}

/** The commands of a script, in order. */
export function splitCommands(text: string, shell: Shell): SimpleCommand[] {
  return new Splitter(text, rules[shell]).split();
}

interface ShellRules {
  readonly escape: string;
  /** Quote characters and whether the escape character works inside; `doubled`: two of them stand for one. */
  readonly quotes: Readonly<Record<string, { readonly escape: string; readonly doubled: boolean }>>;
  readonly separators: string;
  readonly comment?: string;
}

const rules: Record<Shell, ShellRules> = {
  posix: {
    escape: "\\",
    quotes: { "'": { escape: "", doubled: false }, '"': { escape: "\\", doubled: false } },
    separators: ";&|\n",
    comment: "#",
  },
  powershell: {
    escape: "`",
    quotes: { "'": { escape: "", doubled: true }, '"': { escape: "`", doubled: true } },
    separators: ";|\n",
    comment: "#",
  },
  cmd: { escape: "^", quotes: { '"': { escape: "", doubled: true } }, separators: "&|\n" },
};

class Splitter {
  private position = 0;
  private word: string | undefined;
  private wordStart = 0;
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
    if (rules.separators.includes(char)) {
      this.endCommand();
      this.position++;
      return;
    }
    if (char === rules.comment && this.word === undefined) {
      const end = text.indexOf("\n", this.position);
      this.position = end < 0 ? text.length : end;
      return;
    }
    this.append(char, 1);
  }

  private readEscape(): void {
    const next = /^\r?\n/.exec(this.text.slice(this.position + 1, this.position + 3))?.[0];
    if (next !== undefined) {
      this.position += 1 + next.length;
      return;
    }
    const escaped = this.text[this.position + 1];
    if (escaped === undefined) this.position++;
    else this.append(escaped, 2);
  }

  private readQuoted(quote: string, rule: { readonly escape: string; readonly doubled: boolean }): void {
    this.append("", 1);
    while (this.position < this.text.length) {
      const char = this.text[this.position] ?? "";
      const next = this.text[this.position + 1];
      if (char === rule.escape && next !== undefined && this.escapesInQuotes(next)) this.append(next, 2);
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
    }
    this.word += text;
    this.position += length;
  }

  private endWord(): void {
    this.closeWord();
    this.position++;
  }

  private closeWord(): void {
    if (this.word === undefined) return;
    this.words.push({ value: this.word, start: this.wordStart, end: this.position });
    this.word = undefined;
  }

  private endCommand(): void {
    this.closeWord();
    if (this.words.length > 0) this.commands.push({ words: this.words });
    this.words = [];
  }
}
