import {
  CodeLensRefreshRequest,
  createConnection,
  InlayHintRefreshRequest,
  ProposedFeatures,
  TextDocuments,
  TextDocumentSyncKind,
  type InitializeResult,
} from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import type { PresetModel } from "../core/preset/presetModels";
import { say } from "../core/text";
import { requests, type ServerSettings } from "../core/protocol/serverRequests";
import type { ModelFactsAnswer, SectionCost, SectionCostAnswer } from "../core/protocol/serverRequests";
import { DocumentReader } from "./documentReader";
import { FileFacts } from "./fileFacts";
import { logFolding, logHover, logSymbols } from "./logFeatures";
import * as features from "./presetFeatures";
import { scriptDiagnostics, scriptHover, scriptShell } from "./scriptFeatures";
import { SectionCosts } from "./sectionCosts";
import { Words } from "./words";

const connection = createConnection(ProposedFeatures.all);
const documents = new TextDocuments(TextDocument);
const words = new Words();
const files = new FileFacts(
  { modelFacts: (path) => connection.sendRequest<ModelFactsAnswer>(requests.modelFacts, { path }) },
  () => {
    reader.checkAll();
    refreshLenses();
  },
);
const costs = new SectionCosts(
  (request) => connection.sendRequest<SectionCostAnswer>(requests.sectionCost, request),
  () => {
    refreshLenses();
  },
);
const reader = new DocumentReader(
  documents,
  files,
  (uri, findings) => {
    void connection.sendDiagnostics({ uri, diagnostics: features.diagnosticsOf(findings, words) });
  },
  (document) => {
    const shell = scriptShell(document);
    const diagnostics = shell === undefined ? [] : scriptDiagnostics(document, shell, words);
    void connection.sendDiagnostics({ uri: document.uri, diagnostics });
  },
);

/** An editor that cannot do it asks again by itself. */
function refreshLenses(): void {
  void connection.sendRequest(CodeLensRefreshRequest.type).catch(() => undefined);
  void connection.sendRequest(InlayHintRefreshRequest.type).catch(() => undefined);
}

function costOf(uri: string, model: PresetModel): SectionCost | undefined {
  return costs.of(model, files.modelPath(uri, model.options.model));
}

connection.onInitialize(({ initializationOptions }): InitializeResult => {
  const settings = initializationOptions as ServerSettings | undefined;
  if (settings !== undefined) words.use(settings);
  if (settings?.trusted === true) files.trust();
  return {
    capabilities: {
      textDocumentSync: TextDocumentSyncKind.Incremental,
      completionProvider: { triggerCharacters: ["=", " ", "/", "-"] },
      hoverProvider: true,
      documentSymbolProvider: true,
      foldingRangeProvider: true,
      documentFormattingProvider: true,
      codeActionProvider: { codeActionKinds: ["quickfix"] },
      codeLensProvider: {},
      inlayHintProvider: true,
      renameProvider: { prepareProvider: true },
    },
  };
});

connection.onNotification(requests.refresh, (settings: Partial<ServerSettings>) => {
  if (settings.trusted === true) files.trust();
  files.forget();
  costs.forget();
  reader.checkAll();
  refreshLenses();
});

connection.onCompletion(async ({ textDocument, position }) => {
  const preset = reader.preset(textDocument.uri);
  if (preset === undefined) return [];
  const typed = features.typedPath(preset, position);
  const found = typed === undefined ? [] : await files.files(textDocument.uri, typed);
  return features.completionItems(preset, position, found, words);
});

connection.onHover(({ textDocument, position }) => {
  const preset = reader.preset(textDocument.uri);
  if (preset !== undefined)
    return features.hoverOf(preset, position, (model) => costOf(textDocument.uri, model), words);
  const log = reader.log(textDocument.uri);
  if (log !== undefined) return logHover(log, position, words);
  const document = documents.get(textDocument.uri);
  const shell = scriptShell(document);
  return document && shell && scriptHover(document, position, shell, words);
});

connection.onDocumentSymbol(({ textDocument }) => {
  const preset = reader.preset(textDocument.uri);
  if (preset !== undefined) return features.symbolsOf(preset);
  const log = reader.log(textDocument.uri);
  return log === undefined ? [] : logSymbols(log, words);
});

connection.onFoldingRanges(({ textDocument }) => {
  const preset = reader.preset(textDocument.uri);
  if (preset !== undefined) return features.foldingRangesOf(preset);
  const log = reader.log(textDocument.uri);
  return log === undefined ? [] : logFolding(log);
});

connection.onDocumentFormatting(({ textDocument }) => {
  const preset = reader.preset(textDocument.uri);
  return preset === undefined ? [] : features.formattingOf(preset);
});

connection.onCodeAction((params) => features.codeActionsOf(params, words));

connection.onCodeLens(({ textDocument }) => {
  const preset = reader.preset(textDocument.uri);
  if (preset === undefined) return [];
  const labels = {
    show: words.say(say`Show memory budget`),
    start: words.say(say`Start`),
    copy: words.say(say`Copy as command line`),
  };
  return features.lensesOf(
    preset,
    textDocument.uri,
    (model) => costOf(textDocument.uri, model),
    words,
    labels,
  );
});

connection.languages.inlayHint.on(({ textDocument, range }) => {
  const preset = reader.preset(textDocument.uri);
  if (preset === undefined) return [];
  return features.inlayHintsOf(preset, range, (model) => costOf(textDocument.uri, model), words);
});

connection.onPrepareRename(({ textDocument, position }) => {
  const preset = reader.preset(textDocument.uri);
  return preset && features.renameRange(preset, position);
});

connection.onRenameRequest(({ textDocument, position, newName }) => {
  const preset = reader.preset(textDocument.uri);
  const edits = preset && features.renameEdits(preset, position, newName);
  return edits === undefined ? undefined : { changes: { [textDocument.uri]: edits } };
});

documents.onDidClose(({ document }) => {
  void connection.sendDiagnostics({ uri: document.uri, diagnostics: [] });
});
documents.listen(connection);
connection.listen();
