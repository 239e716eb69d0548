import { commentStart, type PresetDocument, type Span } from "./presetDocument";
import type { Preset } from "./presetModels";

/** A change inside one line; columns from 0, the end exclusive. */
export interface LineEdit {
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly newText: string;
}

/**
 * One blank around `=`, nothing in front of keys and headers and at line ends. Comments, empty lines, the order of lines
 * and names with all their blanks stay; a line llama.cpp cannot read is left alone unless only its indentation is wrong.
 */
export function formatEdits({ document }: Preset): LineEdit[] {
  const entries = new Map(
    document.sections.flatMap(({ entries }) => entries).map((entry) => [entry.line, entry]),
  );
  const headers = new Map(
    document.sections.flatMap(({ header }) => (header === undefined ? [] : [[header.line, header] as const])),
  );
  const broken = new Set(
    document.broken
      .filter(({ why }) => why !== "indented" && why !== "byteOrderMark")
      .map(({ span }) => span.line),
  );
  for (const { line } of document.overLines) {
    // every line up to the bracket belongs to the name
    for (let at = line; at < document.lines.length && !broken.has(at); at++) {
      broken.add(at);
      if (document.lines[at]?.includes("]") === true) break;
    }
  }
  const edits: LineEdit[] = [];
  document.lines.forEach((text, line) => {
    if (broken.has(line)) return;
    const formatted = formatLine(text, entries.get(line), headers.get(line));
    if (formatted !== text) edits.push({ line, start: 0, end: text.length, newText: formatted });
  });
  return edits;
}

function formatLine(
  text: string,
  entry: { readonly key: Span; readonly value: Span } | undefined,
  header: Span | undefined,
): string {
  const mark = text.startsWith("\ufeff") ? "\ufeff" : "";
  const comment = text.slice(commentStart(text, header?.end ?? 0)).trimEnd();
  const behind = comment === "" ? "" : ` ${comment}`;
  if (header !== undefined) return `${mark}[${header.text}]${behind}`;
  if (entry !== undefined) {
    const value = entry.value.text;
    return `${mark}${entry.key.text} =${value === "" ? "" : ` ${value}`}${behind}`;
  }
  return mark + text.slice(mark.length).trim();
}

/** Lines of a section, its trailing empty and comment lines left out: they mostly belong to the next one. */
export function foldingOf({ document }: Preset): { readonly start: number; readonly end: number }[] {
  return document.sections.flatMap((section) => {
    if (section.header === undefined) return [];
    const end = lastContentLine(document, section.header.line, section.lastLine);
    return end > section.header.line ? [{ start: section.header.line, end }] : [];
  });
}

function lastContentLine({ lines }: PresetDocument, first: number, last: number): number {
  let line = last;
  while (line > first && /^\s*([;#].*)?$/.test(lines[line] ?? "")) line--;
  return line;
}

/** Every header of a name; undefined where the new name cannot be one. */
export function renameSection({ document }: Preset, name: string, newName: string): LineEdit[] | undefined {
  if (newName.trim() !== newName || newName === "" || /[\]\r\n]/.test(newName)) return undefined;
  return document.sections.flatMap(({ name: each, header }) =>
    header === undefined || each !== name
      ? []
      : [{ line: header.line, start: header.start, end: header.end, newText: newName }],
  );
}

/** Does a text look like a models preset? For files with the ending .ini that no pattern names. */
export function looksLikePreset(text: string): boolean {
  const head = text.slice(0, 20_000);
  if (!/^\[[^\]\r\n]+\]/m.test(head)) return false;
  const keys = new Set(
    Array.from(head.matchAll(/^([A-Za-z_][\w.-]*)[ \t]*=/gm), ([, key]) => key ?? "").filter((key) =>
      /^(m|model|hf|hf-repo|c|ctx-size|ngl|n-gpu-layers|gpu-layers|ctk|ctv|cache-type-[kv]|fa|flash-attn|np|parallel|ub|ubatch-size|ncmoe|n-cpu-moe|mmproj|spec-type|load-on-startup|jinja|LLAMA_ARG_\w+)$/.test(
        key,
      ),
    ),
  );
  return keys.size >= 2 || (/^\[\*\]/m.test(head) && keys.size >= 1);
}
