import { DiagnosticSeverity, type Diagnostic } from "vscode-languageserver/node";
import { bytes, say, type Text } from "../core/text";
import type { Translations } from "./translations";

export const source = "Llama Gauge";
/** Longer texts are no presets. This one is read and checked within a second, whatever is in it. */
export const maxPresetLength = 2 ** 19;
/** A log of this size is not held twice. */
export const maxLogLength = 16 * 2 ** 20;
export const maxLogLines = 500_000;

export const presetTooLong = say`This file is longer than ${bytes(maxPresetLength)}, which no preset is: it is not checked.`;
export const scriptTooLong = (most: number): Text =>
  say`This file is longer than ${bytes(most)}: its llama-server commands are not checked.`;
export const logTooLong = say`This log is too long to be explained as a whole. Select the lines around the error and run "Explain This llama.cpp Log", or run llama-gauge explain-log.`;

/** What is not read says so in its first line. */
export function unread(message: Text, words: Translations): Diagnostic[] {
  const start = { line: 0, character: 0 };
  return [
    {
      range: { start, end: start },
      severity: DiagnosticSeverity.Information,
      source,
      message: words.say(message),
    },
  ];
}
