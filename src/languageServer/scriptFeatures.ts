import {
  DiagnosticSeverity,
  MarkupKind,
  type CodeLens,
  type Diagnostic,
  type Hover,
  type Position,
  type Range,
} from "vscode-languageserver/node";
import type { TextDocument } from "vscode-languageserver-textdocument";
import { checkCommands, optionAt, type CheckedCommand } from "../core/scripts/commandReport";
import { scriptCommands, type ScriptCommands } from "../core/scripts/scriptCommands";
import { maskSecrets } from "../core/launch/maskSecrets";
import { optionLines, optionTitle } from "../core/preset/presetHover";
import { willNotStart } from "../core/preset/startErrors";
import { lensCommands, type SectionCommand } from "../core/protocol/serverRequests";
import type { SectionCost } from "../core/preset/sectionCost";
import type { Costed } from "./sectionCosts";
import { source } from "./limits";
import { shownName, together, type Shown } from "../core/shown";
import type { Translations } from "./translations";

const severities = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  information: DiagnosticSeverity.Information,
} as const;

/** A script, or a file with command lines in it, that starts llama-server. */
export interface Script {
  readonly document: TextDocument;
  readonly script: ScriptCommands;
  readonly commands: readonly CheckedCommand[];
}

/** Findings, lenses and hovers ask for the same text one after another. */
const read = new WeakMap<TextDocument, { readonly version: number; readonly script: Script | undefined }>();

export function readScript(document: TextDocument | undefined): Script | undefined {
  if (document === undefined) return undefined;
  const known = read.get(document);
  if (known?.version === document.version) return known.script;
  const commands = scriptCommands(document.getText(), document.languageId);
  const script = commands && { document, script: commands, commands: checkCommands(commands.commands) };
  read.set(document, { version: document.version, script });
  return script;
}

export function scriptDiagnostics({ document, commands }: Script, words: Translations): Diagnostic[] {
  const diagnostics = commands.flatMap(({ remarks }) =>
    remarks.map(({ severity, code, message, start, end }) => ({
      range: rangeOf(document, start, end),
      severity: severities[severity],
      code,
      source,
      message: words.say(message),
      ...words.documented(code),
    })),
  );
  // arguments behind an anchor or in a macro belong to several commands
  return Array.from(new Map(diagnostics.map((each) => [JSON.stringify(each), each])).values());
}

type CostOf = (command: Costed) => SectionCost | undefined;

/** An option's help, or what the server costs where its program stands. */
export function scriptHover(
  { document, script, commands }: Script,
  position: Position,
  cost: CostOf,
  words: Translations,
): Hover | undefined {
  const offset = document.offsetAt(position);
  const found = optionAt(script.commands, offset);
  if (found !== undefined) {
    const lines = [shownName(optionTitle(found.option)), ...optionLines(found.option).map(words.say)];
    return hover(lines, rangeOf(document, found.start, found.end));
  }
  const command = commands.find(({ program }) => offset >= program.start && offset <= program.end);
  if (command === undefined) return undefined;
  const errors = command.remarks.filter(({ severity }) => severity === "error").length;
  const figures = errors > 0 ? undefined : cost(costedOf(command));
  if (errors === 0 && figures === undefined) return undefined;
  const lines = (figures === undefined ? [willNotStart(errors)] : [figures.verdict, ...figures.lines]).map(
    words.say,
  );
  return hover(lines, rangeOf(document, command.program.start, command.program.end));
}

/** Above each command: what it costs, and what can be done with it. */
export function scriptLenses(
  { document, commands }: Script,
  cost: CostOf,
  words: Translations,
  labels: Readonly<Record<"probe" | "start" | "check", Shown>>,
): CodeLens[] {
  return commands.flatMap((command) => {
    const range = rangeOf(document, command.program.start, command.program.end);
    const errors = command.remarks.filter(({ severity }) => severity === "error").length;
    // figures would be those of other options
    const figures = errors > 0 ? undefined : cost(costedOf(command));
    const argument: SectionCommand = {
      uri: document.uri,
      section: costedOf(command).name,
      arguments: maskSecrets(command.arguments),
      at: command.program.start,
      ...(figures !== undefined && { cost: figures }),
    };
    const lens = (title: Shown, id: string): CodeLens => ({
      range,
      command: { title, command: id, arguments: [argument] },
    });
    return [
      ...(errors > 0 ? [lens(words.say(willNotStart(errors)), lensCommands.checkCommandLine)] : []),
      ...(figures === undefined ? [] : [lens(words.say(figures.verdict), lensCommands.showBudget)]),
      ...(command.isPlain && errors === 0
        ? [lens(labels.probe, lensCommands.probe), lens(labels.start, lensCommands.startServer)]
        : []),
      lens(labels.check, lensCommands.checkCommandLine),
    ];
  });
}

/** A command has no name of its own; the model's will do. */
function costedOf({ options }: CheckedCommand): Costed {
  const model = options.alias ?? options.model?.split(/[\\/]/).at(-1) ?? options.hfRepo ?? "llama-server";
  return { name: model, options };
}

function hover(lines: readonly Shown[], range: Range): Hover {
  return { contents: { kind: MarkupKind.PlainText, value: together(lines, "\n\n") }, range };
}

function rangeOf(document: TextDocument, start: number, end: number): Range {
  return { start: document.positionAt(start), end: document.positionAt(end) };
}
