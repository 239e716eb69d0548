import {
  MarkupKind,
  SymbolKind,
  type DocumentSymbol,
  type FoldingRange,
  type Hover,
  type Position,
} from "vscode-languageserver/node";
import { explainLines } from "../core/logs/explainLog";
import type { LogEvent } from "../core/logs/logEvent";
import { FactReader } from "../core/logs/reading/factReader";
import { explainLine } from "../core/logs/logHover";
import { logLines, type LogLine } from "../core/logs/reading/logLine";
import { logPhases, type LogPhase } from "../core/logs/logPhases";
import { shownName } from "../core/shown";
import { maxLogLines } from "./limits";
import type { Translations } from "./translations";

/** What has been read from a log; kept until its text changes. */
export interface ReadLog {
  readonly lines: readonly LogLine[];
  readonly phases: readonly LogPhase[];
  readonly events: readonly LogEvent[];
}

/** @throws UserError for more lines than are read here. */
export function readLog(text: string): ReadLog {
  const lines = logLines(text, maxLogLines);
  const reader = new FactReader();
  for (const line of lines) reader.read(line);
  return { lines, phases: logPhases(lines), events: explainLines(lines, reader.result()) };
}

export function logSymbols({ phases, events }: ReadLog, words: Translations): DocumentSymbol[] {
  let at = 0;
  const upTo = (last: number): readonly LogEvent[] => {
    const from = at;
    while ((events[at]?.line ?? Infinity) <= last) at++;
    return events.slice(from, at);
  };
  return phases.map(({ title, first, last }) => ({
    name: words.say(title),
    kind: SymbolKind.Namespace,
    range: lineRange(first, last),
    selectionRange: lineRange(first, first),
    children: upTo(last)
      .filter(({ line }) => line >= first)
      .map(({ line, message, cause }) => ({
        name: shownName(message, 80),
        detail: words.say(cause),
        kind: SymbolKind.Event,
        range: lineRange(line, line),
        selectionRange: lineRange(line, line),
      })),
  }));
}

export function logFolding({ phases }: ReadLog): FoldingRange[] {
  return phases.flatMap(({ first, last }) =>
    last > first ? [{ startLine: first - 1, endLine: last - 1 }] : [],
  );
}

export function logHover(
  { lines, events }: ReadLog,
  { line }: Position,
  words: Translations,
): Hover | undefined {
  const event = events.find((each) => each.line === line + 1);
  const read = lines[line];
  if (event !== undefined) {
    return {
      contents: {
        kind: MarkupKind.PlainText,
        value: `${words.say(event.cause)}\n\n${words.say(event.remedy)}`,
      },
    };
  }
  const text = read === undefined ? undefined : explainLine(read);
  return text === undefined
    ? undefined
    : { contents: { kind: MarkupKind.PlainText, value: words.say(text) } };
}

function lineRange(first: number, last: number): DocumentSymbol["range"] {
  return { start: { line: first - 1, character: 0 }, end: { line: last - 1, character: 10_000 } };
}
