/** A piece of one line: text and UTF-16 columns from 0, end exclusive. */
export interface Span {
  readonly text: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

export interface PresetEntry {
  readonly line: number;
  readonly key: Span;
  readonly value: Span;
  /** A comment that stands right behind the value, with its `;` or `#`. */
  readonly cut?: string;
}

/** A section from its header to the line before the next one. The part before any header has no `header`. */
export interface PresetSection {
  /** Model id, `*`, or `default` for the part before any header. */
  readonly name: string;
  readonly header?: Span;
  /** Index of the last line. */
  readonly lastLine: number;
  readonly entries: readonly PresetEntry[];
}

/** A line llama.cpp cannot read, which makes it refuse the whole file. */
export interface BrokenLine {
  readonly span: Span;
  readonly why:
    | "byteOrderMark"
    | "indented"
    | "noEquals"
    | "noKey"
    | "emptyName"
    | "unclosedHeader"
    | "afterHeader"
    | "badKey";
}

export interface PresetDocument {
  readonly lines: readonly string[];
  readonly sections: readonly PresetSection[];
  readonly broken: readonly BrokenLine[];
  /** Headers whose `]` stands on a later line: llama.cpp takes all of it as the name. */
  readonly overLines: readonly Span[];
}

/** Lines as llama.cpp's presets count them: `\n`, `\r\n` and `\r` end one. */
export function splitLines(text: string): string[] {
  return text.split(/\r\n|\n|\r/);
}

const keyShape = /^[A-Za-z_][A-Za-z0-9_.-]*/;

/**
 * Reads a models preset by llama.cpp's grammar (common/preset.cpp): every key and header stands at the start of its
 * line, a value ends at the first `;` or `#`, there are no quotes and no escapes. Where llama.cpp gives up, the line is
 * kept as broken and reading goes on.
 */
export function parsePreset(text: string): PresetDocument {
  const reader = new PresetReader(splitLines(text));
  return reader.read();
}

interface OpenSection {
  readonly name: string;
  readonly header?: Span;
  readonly entries: PresetEntry[];
}

class PresetReader {
  private readonly sections: PresetSection[] = [];
  private readonly broken: BrokenLine[] = [];
  private readonly overLines: Span[] = [];
  private open: OpenSection = { name: "default", entries: [] };
  /** Last line of a name that runs over lines: nothing is broken up to there. */
  private nameEnd = -1;
  /** For each line the next one, itself included, with a `]`; -1 where none follows. */
  private readonly nextBracket: Int32Array;

  constructor(private readonly lines: readonly string[]) {
    this.nextBracket = new Int32Array(lines.length + 1).fill(-1);
    for (let line = lines.length - 1; line >= 0; line--) {
      this.nextBracket[line] =
        lines[line]?.includes("]") === true ? line : (this.nextBracket[line + 1] ?? -1);
    }
  }

  read(): PresetDocument {
    for (let line = 0; line < this.lines.length; line++) {
      const broken = this.broken.length;
      const inName = line <= this.nameEnd;
      this.readLine(line, this.lines[line] ?? "");
      if (inName) this.broken.length = broken;
    }
    this.close(this.lines.length - 1);
    return { lines: this.lines, sections: this.sections, broken: this.broken, overLines: this.overLines };
  }

  private readLine(line: number, whole: string): void {
    const marked = line === 0 && whole.startsWith("\ufeff");
    if (marked) this.broken.push({ span: spanOf(whole, line, 0, 1), why: "byteOrderMark" });
    const text = marked ? ` ${whole.slice(1)}` : whole;
    const from = marked ? 1 : 0;
    const indent = blanks(text, from);
    const first = text[indent];
    if (first === undefined || first === ";" || first === "#") return;
    if (indent > from) this.broken.push({ span: spanOf(whole, line, from, indent), why: "indented" });
    if (first === "[") this.readHeader(whole, line, indent);
    else this.readEntry(whole, line, indent);
  }

  private readHeader(text: string, line: number, start: number): void {
    const nameStart = blanks(text, start + 1);
    const close = text.indexOf("]", start);
    if (close < 0) {
      this.readUnclosed(text, line, start, nameStart);
      return;
    }
    const rest = blanks(text, close + 1);
    if (!endsLine(text, rest)) {
      this.broken.push({ span: spanOf(text, line, rest, text.length), why: "afterHeader" });
    }
    if (close <= nameStart)
      this.broken.push({ span: spanOf(text, line, start, close + 1), why: "emptyName" });
    this.begin(spanOf(text, line, nameStart, Math.max(nameStart, close)), line);
  }

  private readUnclosed(text: string, line: number, start: number, nameStart: number): void {
    const span = spanOf(text, line, start, text.length);
    if (this.closesLater(line)) {
      this.overLines.push(span);
      this.nameEnd = this.nextBracket[line + 1] ?? -1;
    } else this.broken.push({ span, why: "unclosedHeader" });
    this.begin(spanOf(text, line, nameStart, trimEnd(text, nameStart, text.length)), line);
  }

  private closesLater(line: number): boolean {
    const text = this.lines[this.nextBracket[line + 1] ?? -1];
    return text !== undefined && endsLine(text, blanks(text, text.indexOf("]") + 1));
  }

  private readEntry(text: string, line: number, start: number): void {
    const key = keyShape.exec(text.slice(start, start + 256))?.[0] ?? "";
    const keyEnd = start + key.length;
    const equals = blanks(text, keyEnd);
    if (key === "" || text[equals] !== "=") {
      const found = text.indexOf("=", start);
      const why = found < 0 ? "noEquals" : found === start ? "noKey" : "badKey";
      const end = trimEnd(text, start, commentStart(text, start));
      this.broken.push({ span: spanOf(text, line, start, end), why });
      return;
    }
    const valueStart = blanks(text, equals + 1);
    const comment = Math.max(valueStart, commentStart(text, valueStart));
    const valueEnd = trimEnd(text, valueStart, comment);
    const isCut = valueEnd === comment && valueEnd > valueStart && comment < text.length;
    this.open.entries.push({
      line,
      key: spanOf(text, line, start, keyEnd),
      value: spanOf(text, line, valueStart, valueEnd),
      ...(isCut && { cut: text.slice(comment).trimEnd() }),
    });
  }

  private begin(header: Span, line: number): void {
    this.close(line - 1);
    this.open = { name: header.text, header, entries: [] };
  }

  private close(lastLine: number): void {
    const { open } = this;
    if (open.header !== undefined || open.entries.length > 0) this.sections.push({ ...open, lastLine });
  }
}

function spanOf(text: string, line: number, start: number, end: number): Span {
  return { text: text.slice(start, end), line, start, end };
}

/** Index of the first character from `from` on that is no blank. */
function blanks(text: string, from: number): number {
  let index = from;
  while (text[index] === " " || text[index] === "\t") index++;
  return index;
}

function trimEnd(text: string, from: number, end: number): number {
  let index = end;
  while (index > from && (text[index - 1] === " " || text[index - 1] === "\t")) index--;
  return index;
}

function endsLine(text: string, index: number): boolean {
  const char = text[index];
  return char === undefined || char === ";" || char === "#";
}

/** Where the comment of a line begins, or the line's end. */
export function commentStart(text: string, from: number): number {
  for (let index = from; index < text.length; index++) {
    if (text[index] === ";" || text[index] === "#") return index;
  }
  return text.length;
}
