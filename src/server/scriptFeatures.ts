import {
  DiagnosticSeverity,
  MarkupKind,
  type Diagnostic,
  type Hover,
  type Position,
} from "vscode-languageserver/node";
import type { TextDocument } from "vscode-languageserver-textdocument";
import { checkCommands, optionAt } from "../core/launch/commandReport";
import { commandsIn, type EmbeddingFile } from "../core/launch/embeddedCommands";
import type { Shell } from "../core/launch/splitCommandLine";
import { optionLines, optionTitle } from "../core/preset/presetHover";
import { source } from "./presetFeatures";
import type { Words } from "./words";

const shells: Readonly<Record<string, Shell>> = {
  shellscript: "posix",
  powershell: "powershell",
  bat: "cmd",
};
const files: Readonly<Record<string, EmbeddingFile>> = {
  json: "json",
  jsonc: "json",
  yaml: "yaml",
  dockercompose: "yaml",
  dockerfile: "dockerfile",
};
const severities = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  information: DiagnosticSeverity.Information,
} as const;
/** A script that starts a server is short. */
const maxLength = 2 ** 20;

/** The shell of a script, or of a file with command lines in it, that starts llama-server; undefined for all other documents. */
export function scriptShell(document: TextDocument | undefined): Shell | undefined {
  const shell = document && (shells[document.languageId] ?? (files[document.languageId] && "posix"));
  if (document === undefined || shell === undefined) return undefined;
  const text = document.getText();
  return text.length <= maxLength && /\bllama(?:-server|\s+serve|\.cpp)/.test(text) ? shell : undefined;
}

/** What of a document a shell would read, at its places. */
function commandText(document: TextDocument): string {
  const file = files[document.languageId];
  return file === undefined ? document.getText() : commandsIn(document.getText(), file);
}

export function scriptDiagnostics(document: TextDocument, shell: Shell, words: Words): Diagnostic[] {
  return checkCommands(commandText(document), shell).flatMap(({ remarks }) =>
    remarks.map(({ severity, code, message, start, end }) => ({
      range: { start: document.positionAt(start), end: document.positionAt(end) },
      severity: severities[severity],
      code,
      source,
      message: words.say(message),
    })),
  );
}

export function scriptHover(
  document: TextDocument,
  position: Position,
  shell: Shell,
  words: Words,
): Hover | undefined {
  const found = optionAt(commandText(document), document.offsetAt(position), shell);
  if (found === undefined) return undefined;
  const lines = [optionTitle(found.option), ...optionLines(found.option).map(words.say)];
  const range = { start: document.positionAt(found.start), end: document.positionAt(found.end) };
  return { contents: { kind: MarkupKind.PlainText, value: lines.join("\n\n") }, range };
}
