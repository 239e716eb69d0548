import { formatText } from "../core/format";
import { isText } from "../core/text";
import { largest } from "../core/lists";
import { withoutSecrets } from "../core/withoutSecrets";

/** Exit codes of the stable contract. `noFigure`: what was asked for has no number, so it is neither yes nor no. */
export const exitCode = { done: 0, no: 1, badInput: 2, outsideFailed: 3, noFigure: 4 } as const;
export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** One JSON document; sentences become English strings. */
export function printJson(value: unknown): void {
  process.stdout.write(`${toJson(value)}\n`);
}

function toJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (isText(part) ? formatText(part) : part));
}

/** Text for other programs, as it is. */
export function printText(text: string): void {
  process.stdout.write(text);
}

export function printLines(lines: readonly string[]): void {
  // a line break in the name of a file must not make a line of its own
  process.stdout.write(lines.map((line) => `${printable(line).replaceAll("\n", "\\u000a")}\n`).join(""));
}

export function printError(message: string): void {
  process.stderr.write(`llama-gauge: ${printable(withoutSecrets(message))}\n`);
}

/** Progress for people at a terminal; nothing where stderr is a file or a pipe. */
export function printProgress(message: string | (() => string)): void {
  if (!process.stderr.isTTY) return;
  process.stderr.write(`\r\x1b[2K${printable(typeof message === "string" ? message : message())}`);
}

export function endProgress(): void {
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[2K");
}

/** File names may hold control characters; a terminal must not obey them. */
function printable(text: string): string {
  return text.replace(
    /(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Rows as aligned columns; numbers (first character a digit, ≈ or -) to the right. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => largest(rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        /^[≈\d-]/.test(cell) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
}
