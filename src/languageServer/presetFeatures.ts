import {
  CodeActionKind,
  CompletionItemKind,
  DiagnosticSeverity,
  FoldingRangeKind,
  InsertTextFormat,
  MarkupKind,
  SymbolKind,
  type CodeAction,
  type CodeActionParams,
  type CodeLens,
  type CompletionItem,
  type Diagnostic,
  type DocumentSymbol,
  type FoldingRange,
  type Hover,
  type InlayHint,
  type Position,
  type Range,
  type TextEdit,
} from "vscode-languageserver/node";
import type { Finding, Fix } from "../core/preset/finding";
import { optionOfKey } from "../core/launch/serverOptions";
import { completionsAt, repositoryOptions, type CompletionSources } from "../core/preset/presetCompletion";
import type { Span } from "../core/preset/presetDocument";
import { foldingOf, formatEdits, renameSection, type LineEdit } from "../core/preset/presetEdits";
import { hoverAt } from "../core/preset/presetHover";
import {
  entryInLine,
  entryOf,
  modelArguments,
  sectionEntries,
  type Preset,
  type PresetModel,
} from "../core/preset/presetModels";
import { placeAt } from "../core/preset/presetPlaces";
import { willNotStart } from "../core/preset/startErrors";
import { codeBlock, md, paragraphs } from "../core/markdown";
import { lensCommands, type SectionCommand } from "../core/protocol/serverRequests";
import type { SectionCost } from "../core/preset/sectionCost";
import { shownName, type Shown } from "../core/shown";
import { count, say } from "../core/text";
import { source } from "./limits";
import type { Translations } from "./translations";

/** An editor shows no more, and a file with more is no preset. */
const maxDiagnostics = 1000;
/** Lenses are for reading; in a file with more sections they would only be in the way. */
const maxLenses = 200;

const severities = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  information: DiagnosticSeverity.Information,
} as const;

export function diagnosticsOf(findings: readonly Finding[], words: Translations): Diagnostic[] {
  const shown = findings
    .slice(0, maxDiagnostics)
    .map(({ severity, code, line, column, endColumn, message, fix }) => ({
      range: rangeOf(line - 1, column - 1, endColumn - 1),
      severity: severities[severity],
      code,
      source,
      message: words.say(message),
      ...words.documented(code),
      ...(fix === undefined ? {} : { data: fix }),
    }));
  const next = findings[maxDiagnostics];
  if (next === undefined) return shown;
  const more = say`${count(findings.length - maxDiagnostics)} more finding[s] [is|are] not shown.`;
  const range = rangeOf(next.line - 1, next.column - 1, next.endColumn - 1);
  return [...shown, { range, severity: severities.information, source, message: words.say(more) }];
}

/** Quick fixes carried by the diagnostics of a range. */
export function codeActionsOf(
  { context, textDocument }: CodeActionParams,
  words: Translations,
): CodeAction[] {
  return context.diagnostics.flatMap((diagnostic) => {
    const fix = diagnostic.data as Fix | undefined;
    if (diagnostic.source !== source || fix === undefined) return [];
    const { line, column, endLine, endColumn, newText } = fix;
    const range = {
      start: { line: line - 1, character: column - 1 },
      end: { line: endLine - 1, character: endColumn - 1 },
    };
    return [
      {
        title: words.say(fix.title),
        kind: CodeActionKind.QuickFix,
        diagnostics: [diagnostic],
        isPreferred: true,
        edit: { changes: { [textDocument.uri]: [{ range, newText }] } },
      },
    ];
  });
}

export function completionItems(
  preset: Preset,
  { line, character }: Position,
  sources: CompletionSources,
  words: Translations,
): CompletionItem[] {
  return completionsAt(preset, line, character, sources).map((item) => ({
    label: shownName(item.label),
    kind:
      item.kind === "key"
        ? CompletionItemKind.Property
        : item.kind === "file"
          ? CompletionItemKind.File
          : CompletionItemKind.Value,
    insertTextFormat: InsertTextFormat.PlainText,
    textEdit: { range: rangeOf(line, item.start, item.end), newText: item.insertText },
    filterText: item.label,
    sortText: `${item.order} ${item.label}`,
    ...(item.detail === undefined ? {} : { detail: shownName(item.detail) }),
    ...(item.help === undefined ? {} : { documentation: words.say(item.help) }),
    ...(item.continues ? { command: { title: "", command: "editor.action.triggerSuggest" } } : {}),
  }));
}

/** What must be looked up before the values at a place can be offered. */
export function wantedFromOutside(
  preset: Preset,
  { line, character }: Position,
): { readonly kind: "repositories" } | { readonly kind: "files"; readonly typed: string } | undefined {
  const place = placeAt(preset, line, character);
  if (place.kind !== "value") return undefined;
  const option = optionOfKey(place.entry.key.text)?.option;
  if (option !== undefined && repositoryOptions.has(option.name)) return { kind: "repositories" };
  if (option?.value.kind !== "path") return undefined;
  const text = preset.document.lines[line] ?? "";
  return { kind: "files", typed: text.slice(place.entry.value.start, character) };
}

export function hoverOf(
  preset: Preset,
  { line, character }: Position,
  { cost, errors }: SectionFacts,
  words: Translations,
): Hover | undefined {
  const hover = hoverAt(preset, line, character);
  if (hover === undefined) return undefined;
  const stops = hover.model === undefined ? 0 : errors(hover.model);
  const figures = hover.model === undefined || stops > 0 ? undefined : cost(hover.model);
  const lines = [
    ...hover.lines,
    ...(stops > 0 ? [willNotStart(stops)] : []),
    ...(figures === undefined ? [] : [figures.verdict, ...figures.lines]),
  ];
  const value = paragraphs([codeBlock(hover.title, "text"), ...lines.map((text) => md`${words.say(text)}`)]);
  return { contents: { kind: MarkupKind.Markdown, value }, range: spanRange(hover.span) };
}

export function symbolsOf({ document }: Preset): DocumentSymbol[] {
  return document.sections.flatMap((section) => {
    if (section.header === undefined) return [];
    const children = section.entries.map(({ key, value, line }) => ({
      name: shownName(key.text),
      detail: shownName(value.text),
      kind: SymbolKind.Property,
      range: rangeOf(line, key.start, Math.max(key.end, value.end)),
      selectionRange: spanRange(key),
    }));
    const last = document.lines[section.lastLine]?.length ?? 0;
    return [
      {
        name: shownName(section.name === "" ? "[]" : section.name),
        kind: SymbolKind.Module,
        range: {
          start: { line: section.header.line, character: 0 },
          end: { line: section.lastLine, character: last },
        },
        selectionRange: spanRange(section.header),
        children,
      },
    ];
  });
}

export function foldingRangesOf(preset: Preset): FoldingRange[] {
  return foldingOf(preset).map(({ start, end }) => ({
    startLine: start,
    endLine: end,
    kind: FoldingRangeKind.Region,
  }));
}

export const formattingOf = (preset: Preset): TextEdit[] => formatEdits(preset).map(textEdit);

/** Where a rename may begin: on the name in a header. */
export function renameRange(preset: Preset, { line, character }: Position): Range | undefined {
  const place = placeAt(preset, line, character);
  const header = place.kind === "header" ? place.section.header : undefined;
  return header === undefined || character > header.end || header.text === "*"
    ? undefined
    : spanRange(header);
}

export function renameEdits(preset: Preset, { line }: Position, newName: string): TextEdit[] | undefined {
  const section = preset.document.sections.find(({ header }) => header?.line === line);
  return section && renameSection(preset, section.name, newName)?.map(textEdit);
}

/** What is known of a model of a preset. */
export interface SectionFacts {
  readonly cost: (model: PresetModel) => SectionCost | undefined;
  /** How many errors keep it from being served. */
  readonly errors: (model: PresetModel) => number;
}

/** Above each model: its verdict, and its command line to copy. */
export function lensesOf(
  preset: Preset,
  uri: string,
  { cost, errors }: SectionFacts,
  words: Translations,
  labels: Readonly<Record<"show" | "probe" | "start" | "copy", Shown>>,
): CodeLens[] {
  const next = preset.models[maxLenses]?.section.header;
  const end = say`From here on sections have no figures: only the first ${count(maxLenses)} [has|have] them.`;
  const rest = next && { range: spanRange(next), command: { title: words.say(end), command: "" } };
  const lenses = preset.models.slice(0, maxLenses).flatMap((model): CodeLens[] => {
    const { header } = model.section;
    if (header === undefined || sectionEntries(model.section).counting.length === 0) return [];
    const figures = cost(model);
    const command: SectionCommand = {
      uri,
      section: model.name,
      arguments: modelArguments(model),
      ...(figures !== undefined && { cost: figures }),
    };
    const range = spanRange(header);
    const stops = errors(model);
    if (stops > 0) {
      // figures would be those of other options, and a probe or a start would fail
      const title = words.say(willNotStart(stops));
      return [
        { range, command: { title, command: "workbench.actions.view.problems" } },
        {
          range,
          command: { title: labels.copy, command: lensCommands.copyCommandLine, arguments: [command] },
        },
      ];
    }
    const title = figures === undefined ? labels.show : words.say(figures.verdict);
    return [
      { range, command: { title, command: lensCommands.showBudget, arguments: [command] } },
      { range, command: { title: labels.probe, command: lensCommands.probe, arguments: [command] } },
      { range, command: { title: labels.start, command: lensCommands.startServer, arguments: [command] } },
      { range, command: { title: labels.copy, command: lensCommands.copyCommandLine, arguments: [command] } },
    ];
  });
  return rest === undefined ? lenses : [...lenses, rest];
}

/** Behind each `ctx-size` of the lines asked for, what it gives one request and costs. */
export function inlayHintsOf(
  preset: Preset,
  { start, end }: Range,
  { cost, errors }: SectionFacts,
  words: Translations,
): InlayHint[] {
  return preset.models.flatMap((model) => {
    const entry = entryOf(preset, model, "ctxSize");
    // a value of [*] means something else for each model
    if (entry === undefined || entryInLine(model.section, entry.line) !== entry) return [];
    const { line, end: character } = entry.value;
    if (line < start.line || line > end.line) return [];
    const figures = errors(model) > 0 ? undefined : cost(model);
    if (figures === undefined) return [];
    return [{ position: { line, character }, label: words.say(figures.contextHint), paddingLeft: true }];
  });
}

function textEdit({ line, start, end, newText }: LineEdit): TextEdit {
  return { range: rangeOf(line, start, end), newText };
}

function rangeOf(line: number, start: number, end: number): Range {
  return { start: { line, character: start }, end: { line, character: end } };
}

const spanRange = ({ line, start, end }: Span): Range => rangeOf(line, start, end);
