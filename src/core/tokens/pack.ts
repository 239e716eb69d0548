import type { FileSource, FileRef } from "../files/files";
import { orderForRecall, type PackOrder } from "./packOrder";

/** How files become one prompt. */
export interface PackTemplate {
  /** `markdown`: a heading and a fenced block per file; `xml`: an element per file. */
  readonly format: "markdown" | "xml";
  readonly order: PackOrder;
  /** What stands before and after the files, e.g. the question. */
  readonly before?: string;
  readonly after?: string;
}

export const defaultPackTemplate: PackTemplate = { format: "markdown", order: "walk" };

/** Files read ahead of the one that is being used. */
const readAhead = 8;
const readAheadBytes = 4 * 1024 * 1024;
/** Characters and files given between two pauses. */
const pauseEvery = 1 << 18;
const filesBetweenPauses = 64;

/**
 * The prompt in pieces; joined they are exactly what is counted and what is copied. It neither starts nor ends with white
 * space (chat templates trim their messages, so white space there would not arrive). Files are read as they come
 * up; what cannot be read is left out; no files, no pieces.
 */
export async function* packText(
  files: readonly FileRef[],
  template: PackTemplate,
  source: FileSource,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const ordered = orderForRecall(files, template.order);
  let first = true;
  for await (const { file, text } of texts(ordered, source, signal)) {
    if (first) yield opening(template);
    else yield "\n\n";
    first = false;
    yield* packFile(file.label, text, template.format);
  }
  if (!first) yield closing(template);
}

/** The texts one after another, nothing added, as `cat` would join them. */
export async function* rawText(
  files: readonly FileRef[],
  source: FileSource,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for await (const { text } of texts(files, source, signal)) yield text;
}

/** One file's header, text and footer. */
export function packFile(
  label: string,
  text: string,
  format: PackTemplate["format"],
): readonly [header: string, text: string, footer: string] {
  const end = text === "" || text.endsWith("\n") || text.endsWith("\r") ? "" : "\n";
  if (format === "xml") {
    const tag = freeTag(text);
    return [`<${tag} path="${escapeAttribute(label)}">\n`, text, `${end}</${tag}>`];
  }
  const fence = "`".repeat(Math.max(3, longestRun(text, "`") + 1));
  return [`## ${headingName(label)}\n\n${fence}${language(label)}\n`, text, `${end}${fence}`];
}

async function* texts(
  files: readonly FileRef[],
  source: FileSource,
  signal: AbortSignal,
): AsyncGenerator<{ readonly file: FileRef; readonly text: string }> {
  const ahead: { readonly file: FileRef; readonly reading: ReturnType<FileSource["read"]> }[] = [];
  let bytesAhead = 0;
  let next = 0;
  let untilPause = pauseEvery;
  for (;;) {
    while (
      next < files.length &&
      ahead.length < readAhead &&
      (ahead.length === 0 || bytesAhead < readAheadBytes)
    ) {
      const file = files[next++];
      if (file === undefined) break;
      const reading = source.read(file, signal);
      // It is awaited in its turn; until then a failure must not count as unhandled.
      reading.catch(() => undefined);
      ahead.push({ file, reading });
      bytesAhead += file.bytes;
    }
    const current = ahead.shift();
    if (current === undefined) return;
    bytesAhead -= current.file.bytes;
    signal.throwIfAborted();
    const content = await current.reading;
    if (content.kind === "text") yield { file: current.file, text: content.text };
    untilPause -= pauseEvery / filesBetweenPauses;
    if (content.kind === "text") untilPause -= content.text.length;
    if (untilPause > 0) continue;
    untilPause = pauseEvery;
    await source.pause?.();
  }
}

function opening({ before }: PackTemplate): string {
  const text = before?.trim() ?? "";
  return text === "" ? "" : `${text}\n\n`;
}

function closing({ after }: PackTemplate): string {
  const text = after?.trim() ?? "";
  return text === "" ? "" : `\n\n${text}`;
}

function longestRun(text: string, character: string): number {
  let longest = 0;
  for (let at = text.indexOf(character); at >= 0;) {
    let end = at;
    while (end < text.length && text[end] === character) end++;
    longest = Math.max(longest, end - at);
    at = text.indexOf(character, end);
  }
  return longest;
}

/** "file", or "file2", … where the text itself closes such an element. */
function freeTag(text: string): string {
  for (let number = 1; ; number++) {
    const tag = number === 1 ? "file" : `file${number}`;
    if (!text.includes(`</${tag}>`)) return tag;
  }
}

/** Characters that would break the line, or make it read as another name. */
const unsafe = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

function headingName(label: string): string {
  return label.replace(unsafe, (character) => {
    const code = character.charCodeAt(0);
    if (code === 10) return "\\n";
    if (code === 13) return "\\r";
    if (code === 9) return "\\t";
    return `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

function escapeAttribute(label: string): string {
  return label
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;")
    .replace(unsafe, (character) => `&#${character.charCodeAt(0)};`);
}

/** The info string of a fence: the extension, where it is a plain one. */
function language(label: string): string {
  return /\.([A-Za-z0-9]{1,10})$/.exec(label)?.[1]?.toLowerCase() ?? "";
}
