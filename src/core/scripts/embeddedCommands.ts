/** Kinds of files in which a command line stands as a value. */
export type EmbeddingFile = "json" | "yaml" | "dockerfile";

/**
 * The text with everything blanked out that is no command, each command on one line: what a shell would read, at the
 * offsets it has in the file. Lists of words count as commands.
 */
export function commandsIn(text: string, file: EmbeddingFile): string {
  const kept = new Kept(text);
  if (file === "json") jsonCommands(text, kept);
  else if (file === "yaml") yamlCommands(text, kept);
  else dockerCommands(text, kept);
  return kept.result();
}

class Kept {
  private readonly ranges: { start: number; end: number; words: string }[] = [];

  constructor(private readonly text: string) {}

  /** `words`: as long as the range. */
  add(start: number, words: string): void {
    this.ranges.push({ start, end: start + words.length, words });
  }

  result(): string {
    let at = 0;
    const parts: string[] = [];
    for (const { start, end, words } of this.ranges.toSorted((a, b) => a.start - b.start)) {
      if (start < at) continue;
      parts.push(blank(this.text.slice(at, start)), words);
      at = end;
    }
    return parts.join("") + blank(this.text.slice(at));
  }
}

const blank = (text: string): string => text.replace(/[^\n]/g, " ");
const oneLine = (text: string): string => text.replace(/[\r\n]/g, " ");
/** A list of quoted words as a shell would have them; words that VS Code quotes in its own way are objects. */
const listWords = (list: string): string =>
  list
    .replace(/"quoting"\s*:\s*"[^"]*"|"value"\s*:/g, blank)
    .replace(/"(?:[^"\\]|\\.)*"|'[^']*'|[^"']/gs, (part) =>
      part.length > 1 ? oneLine(part) : part === "\n" ? " " : part === "\\" ? part : " ",
    );
/** A list up to its own closing bracket; brackets in its texts are none. */
const bracketedList = /^\[(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\]"'])*\]/;

const longestList = 16_384;

/** A text or list in an object of JSON, by where its value stands. */
interface JsonObject {
  command?: { readonly start: number; readonly end: number };
  args?: { readonly start: number; readonly end: number };
}

/** tasks.json and its like: objects with `"command": "…"`, and `"args": […]` somewhere behind it. */
function jsonCommands(text: string, kept: Kept): void {
  const open: JsonObject[] = [];
  const tokens = /"((?:[^"\\\n]|\\.)*)"(\s*:\s*)?|\/\/[^\n]*|\/\*[^]*?\*\/|[{}]/g;
  for (let match = tokens.exec(text); match !== null; match = tokens.exec(text)) {
    const [token, name, colon] = match;
    const object = open.at(-1);
    if (token === "{") open.push({});
    else if (token === "}") {
      if (object !== undefined) keepTask(text, object, kept);
      open.pop();
    } else if (colon !== undefined && object !== undefined) {
      const start = match.index + token.length;
      const value = (name === "args" ? bracketedList : /^"(?:[^"\\\n]|\\.)*"/).exec(
        text.slice(start, start + longestList),
      )?.[0];
      if (value === undefined || (name !== "command" && name !== "args")) continue;
      object[name] = { start, end: start + value.length };
      tokens.lastIndex = start + value.length;
    }
  }
  for (const object of open) if (object.args === undefined) keepTask(text, object, kept);
}

function keepTask(text: string, { command, args }: JsonObject, kept: Kept): void {
  if (command === undefined) return;
  const line = ` ${text.slice(command.start + 1, command.end - 1)} `;
  if (!line.includes("llama") || (args !== undefined && args.start < command.end)) return;
  const rest =
    args === undefined
      ? ""
      : " ".repeat(args.start - command.end) +
        listWords(withoutJsonComments(text.slice(args.start, args.end)));
  kept.add(command.start, oneLine(line) + rest);
}

const withoutJsonComments = (text: string): string =>
  text.replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\//g, (part) =>
    part.startsWith('"') ? part : blank(part),
  );

/** `cmd:` of llama-swap and `command:` of compose: in one line or several, quoted, as a block or as a list. */
function yamlCommands(text: string, kept: Kept): void {
  const pattern = /^([ \t]*(?:- )?)(["']?)(cmd|command|entrypoint)\2:(?:[ \t]+|(?=\r?\n))/gm;
  for (const match of text.matchAll(pattern)) {
    const start = match.index + match[0].length;
    const words = yamlWords(text, start, (match[1] ?? "").length);
    // a program alone gets its arguments from elsewhere
    if (words !== undefined && /\S\s+\S/.test(words)) kept.add(start, words);
  }
}

/** The words of a value as long as what is written; undefined for what cannot be written so. */
function yamlWords(text: string, start: number, indent: number): string | undefined {
  const lineEnd = endOfLine(text, start);
  const first = text.slice(start, lineEnd);
  if (first.startsWith("[")) {
    const list = bracketedList.exec(text.slice(start, start + longestList))?.[0];
    return list && listWords(list);
  }
  const items = yamlItems(text, lineEnd, indent);
  if (/^\s*(?:#.*)?$/.test(first) && items !== undefined) return blank(first) + items;
  const block = blockBelow(text, lineEnd, indent);
  if (/^[|>]/.test(first)) return blank(first) + blockWords(block);
  const whole = first + block;
  if (first.startsWith('"')) return doubleQuoted(whole);
  if (first.startsWith("'")) return singleQuoted(whole);
  return oneLine(whole.replace(/(?:^|\s)#.*$/gm, blank));
}

/** A list of lines `- word`. */
function yamlItems(text: string, start: number, indent: number): string | undefined {
  let end = start;
  const parts: string[] = [];
  while (end < text.length) {
    const next = endOfLine(text, end + 1);
    const line = text.slice(end + 1, next);
    const item = /^([ \t]*)- (.*)$/s.exec(line);
    if (item !== null && (item[1] ?? "").length >= indent) {
      const value = (item[2] ?? "").replace(
        /^(\s*(?:"(?:[^"\\]|\\.)*"|'[^']*')|\S+)(\s+#.*)$/s,
        blankedBehind,
      );
      const quoted = /^\s*["']/.test(value) || !/["'\\$\s]/.test(value.trim());
      if (!quoted) return undefined;
      parts.push(" ".repeat(1 + line.length - (item[2] ?? "").length), oneLine(value));
    } else if (/^\s*(?:#.*)?$/.test(line)) parts.push(" ".repeat(1 + line.length));
    else break;
    end = next;
  }
  return parts.some((part) => part.trim() !== "") ? parts.join("") : undefined;
}

const blankedBehind = (_: string, value: string, comment: string): string => value + blank(comment);

/** Escaped quotes become quotes beside a blank, so that the length stays; other escapes are not read. */
function doubleQuoted(text: string): string | undefined {
  const inner = /^"((?:[^"\\]|\\.)*)"/s.exec(text)?.[1];
  if (inner === undefined || /\\[^"\r\n]/.test(inner)) return undefined;
  return ` ${oneLine(besideBlanks(inner.replace(/\\(?=\r?\n)/g, " "), '\\"', '"'))} `;
}

function singleQuoted(text: string): string | undefined {
  const inner = /^'((?:[^']|'')*)'/.exec(text)?.[1];
  return inner === undefined ? undefined : ` ${oneLine(besideBlanks(inner, "''", "'"))} `;
}

function besideBlanks(text: string, escaped: string, quote: string): string {
  return text
    .split(escaped)
    .map((part, index) => (index === 0 ? part : (index % 2 === 1 ? ` ${quote}` : `${quote} `) + part))
    .join("");
}

/** Lines of a block are one command; those that are comments are not part of it. */
function blockWords(block: string): string {
  const withoutComments = block.replace(/^[ \t]*#.*$/gm, blank);
  return oneLine(withoutComments.replace(/\\(?=\r?\n|$)/g, " "));
}

function blockBelow(text: string, start: number, indent: number): string {
  let end = start;
  while (end < text.length) {
    const next = endOfLine(text, end + 1);
    const line = text.slice(end + 1, next);
    if (line.trim() !== "" && line.search(/\S/) <= indent) break;
    end = next;
  }
  return text.slice(start, end);
}

/** CMD, ENTRYPOINT and RUN, as a list or as a shell's line; the words of CMD's list follow those of ENTRYPOINT's. */
function dockerCommands(text: string, kept: Kept): void {
  let entry: { readonly start: number; readonly words: string } | undefined;
  for (const match of text.matchAll(/^[ \t]*(CMD|ENTRYPOINT|RUN|FROM)[ \t]+/gim)) {
    const name = match[1]?.toUpperCase();
    const start = match.index + match[0].length;
    const instruction = dockerInstruction.exec(text.slice(start))?.[0] ?? "";
    const lines = instruction.replace(/^[ \t]*#.*$/gm, blank).replace(/\\(?=[ \t]*\r?\n)/g, " ");
    const isList = lines.startsWith("[");
    const words = isList ? listWords(oneLine(lines)) : oneLine(lines);
    if (name === "FROM") {
      if (entry !== undefined) kept.add(entry.start, entry.words);
      entry = undefined;
    } else if (name === "ENTRYPOINT" && isList) entry = { start, words };
    else if (name === "CMD" && isList && entry !== undefined) {
      const between = " ".repeat(start - entry.start - entry.words.length);
      kept.add(entry.start, entry.words + between + words);
      entry = undefined;
    } else kept.add(start, words);
  }
  if (entry !== undefined) kept.add(entry.start, entry.words);
}

/** Up to the line that is not continued; comments and empty lines between continued lines do not end it. */
const dockerInstruction = /^(?:[^\n]*\\[ \t]*\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*)*[^\n]*/;

function endOfLine(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end < 0 ? text.length : end;
}
