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
/** A list of quoted words as a shell would have them. */
const listWords = (list: string): string =>
  list.replace(/"(?:[^"\\]|\\.)*"|[^"]/gs, (part) => (part.startsWith('"') ? oneLine(part) : " "));

/** tasks.json and its like: `"command": "…"`, with `"args": […]` right behind it or alone. */
function jsonCommands(text: string, kept: Kept): void {
  const pattern = /("command"\s*:\s*)"((?:[^"\\]|\\.)*)"(?:(\s*,\s*"args"\s*:\s*)(\[[^\]]*\]))?/g;
  for (const match of text.matchAll(pattern)) {
    const [, before = "", command = "", between = "", list = ""] = match;
    if (!/llama/.test(command)) continue;
    const words = ` ${command} ${" ".repeat(between.length)}${listWords(list)}`;
    kept.add(match.index + before.length, oneLine(words));
  }
}

/** `cmd:` of llama-swap and `command:` of compose: in one line, quoted, as a block or as a list. */
function yamlCommands(text: string, kept: Kept): void {
  const pattern = /^([ \t]*(?:- )?)(cmd|command|entrypoint):[ \t]*/gm;
  for (const match of text.matchAll(pattern)) {
    const start = match.index + match[0].length;
    const lineEnd = endOfLine(text, start);
    const first = text.slice(start, lineEnd);
    if (first.startsWith("[")) {
      const end = text.indexOf("]", start);
      if (end >= 0) kept.add(start, listWords(text.slice(start, end + 1)));
    } else if (/^[|>]/.test(first)) {
      const block = blockBelow(text, lineEnd, (match[1] ?? "").length);
      kept.add(start, " ".repeat(first.length) + blockWords(block));
    } else if (/^["']/.test(first)) {
      const quote = first[0] ?? "";
      const end = first.lastIndexOf(quote);
      if (end > 0) kept.add(start, ` ${first.slice(1, end)} `);
    } else
      kept.add(
        start,
        first.replace(/\s#.*$/, (comment) => " ".repeat(comment.length)),
      );
  }
}

/** Lines of a block are one command; those that are comments are not part of it. */
function blockWords(block: string): string {
  const withoutComments = block.replace(/^[ \t]*#.*$/gm, (comment) => " ".repeat(comment.length));
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

/** CMD, ENTRYPOINT and RUN, as a list or as a shell's line. */
function dockerCommands(text: string, kept: Kept): void {
  for (const match of text.matchAll(/^[ \t]*(?:CMD|ENTRYPOINT|RUN)[ \t]+/gim)) {
    const start = match.index + match[0].length;
    const instruction = /^(?:[^\n]*\\\r?\n)*[^\n]*/.exec(text.slice(start))?.[0] ?? "";
    const words = instruction.replace(/\\(?=\r?\n)/g, " ");
    kept.add(start, words.startsWith("[") ? listWords(oneLine(words)) : oneLine(words));
  }
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end < 0 ? text.length : end;
}
