import type { Text } from "../text";
import type { Span } from "./presetDocument";

export type FindingSeverity = "error" | "warning" | "information";

/** A change of the text that settles a finding. Lines and columns from 1, ends exclusive. */
export interface Fix {
  readonly title: Text;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  readonly newText: string;
}

/** Something to know about a place of a preset. Lines and columns (UTF-16 units) from 1, the end exclusive. */
export interface Finding {
  /** `error`: llama-server refuses the file, or this model does not start. */
  readonly severity: FindingSeverity;
  readonly code: string;
  readonly line: number;
  readonly column: number;
  readonly endColumn: number;
  readonly message: Text;
  readonly fix?: Fix;
}

export function findingAt(
  span: Span,
  severity: FindingSeverity,
  code: string,
  message: Text,
  fix?: Fix,
): Finding {
  const { line, start, end } = span;
  const place = { line: line + 1, column: start + 1, endColumn: Math.max(end, start + 1) + 1 };
  return { severity, code, ...place, message, ...(fix === undefined ? {} : { fix }) };
}

/** Puts `newText` in place of a span. */
export function replaceSpan(title: Text, span: Span, newText: string): Fix {
  const { line, start, end } = span;
  return { title, line: line + 1, column: start + 1, endLine: line + 1, endColumn: end + 1, newText };
}

/** Takes a whole line out. */
export function removeLine(title: Text, line: number): Fix {
  return { title, line: line + 1, column: 1, endLine: line + 2, endColumn: 1, newText: "" };
}

/** Puts a new line behind a line. */
export function insertLineAfter(title: Text, line: number, newText: string): Fix {
  return { title, line: line + 2, column: 1, endLine: line + 2, endColumn: 1, newText: `${newText}\n` };
}
