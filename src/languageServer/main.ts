import {
  CodeLensRefreshRequest,
  createConnection,
  InlayHintRefreshRequest,
  ProposedFeatures,
  TextDocuments,
  TextDocumentSyncKind,
  type InitializeResult,
  type PublishDiagnosticsParams,
} from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import { say } from "../core/text";
import { requests, type ServerSettings } from "../core/protocol/serverRequests";
import type { ModelFactsAnswer, SectionCostAnswer } from "../core/protocol/serverRequests";
import { isLongScript, maxScriptLength } from "../core/scripts/scriptCommands";
import type { SectionCost } from "../core/preset/sectionCost";
import { DocumentReader } from "./documentReader";
import { FileFacts } from "./fileFacts";
import { scriptTooLong, unread } from "./limits";
import { logFolding, logHover, logSymbols } from "./logFeatures";
import * as features from "./presetFeatures";
import type { Preset } from "../core/preset/presetModels";
import { startErrors } from "../core/preset/startErrors";
import { readScript, scriptDiagnostics, scriptHover, scriptLenses } from "./scriptFeatures";
import { SectionCosts, type Costed } from "./sectionCosts";
import { Translations } from "./translations";

const newsPauseMs = 50;

const connection = createConnection(ProposedFeatures.all);
const documents = new TextDocuments(TextDocument);
const words = new Translations();
const files = new FileFacts(
  {
    modelFacts: (path) => connection.sendRequest<ModelFactsAnswer>(requests.modelFacts, { path }),
    cachedModel: (request) => connection.sendRequest<string | null>(requests.cachedModel, request),
    repositories: () => connection.sendRequest<readonly string[]>(requests.repositories),
  },
  haveNews,
);
const costs = new SectionCosts(
  (request) => connection.sendRequest<SectionCostAnswer>(requests.sectionCost, request),
  haveNews,
);
const reader = new DocumentReader(
  documents,
  files,
  costOf,
  (uri, findings) => {
    tell({ uri, diagnostics: features.diagnosticsOf(findings, words) });
  },
  (document) => {
    const script = readScript(document);
    const diagnostics =
      script !== undefined
        ? scriptDiagnostics(script, words)
        : isLongScript(document.getText(), document.languageId)
          ? unread(scriptTooLong(maxScriptLength), words)
          : [];
    tell({ uri: document.uri, diagnostics });
  },
  (uri, why) => {
    tell({ uri, diagnostics: unread(why, words) });
  },
);

/** To an editor that has gone it cannot be told any more. */
function tell(diagnostics: PublishDiagnosticsParams): void {
  connection.sendDiagnostics(diagnostics).catch(() => undefined);
}

let telling: NodeJS.Timeout | undefined;

/** Something is known that was not known when documents were last looked at; of many such news one is made. */
function haveNews(): void {
  telling ??= setTimeout(() => {
    telling = undefined;
    reader.checkAll();
    refreshLenses();
  }, newsPauseMs);
}

/** An editor that cannot do it asks again by itself. */
function refreshLenses(): void {
  connection.sendRequest(CodeLensRefreshRequest.type).catch(() => undefined);
  connection.sendRequest(InlayHintRefreshRequest.type).catch(() => undefined);
}

function costOf(uri: string, model: Costed): SectionCost | undefined {
  return costs.of(model, files.modelPath(uri, model.options));
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
  const wanted = features.wantedFromOutside(preset, position);
  const found = wanted?.kind === "files" ? await files.files(textDocument.uri, wanted.typed) : [];
  const repositories = wanted?.kind === "repositories" ? await files.repositories() : [];
  return features.completionItems(
    preset,
    position,
    { files: () => found, repositories: () => repositories },
    words,
  );
});

connection.onHover(({ textDocument, position }) => {
  const preset = reader.preset(textDocument.uri);
  if (preset !== undefined)
    return features.hoverOf(preset, position, sectionFacts(textDocument.uri, preset), words);
  const log = reader.log(textDocument.uri);
  if (log !== undefined) return logHover(log, position, words);
  const script = readScript(documents.get(textDocument.uri));
  return script && scriptHover(script, position, (command) => costOf(textDocument.uri, command), words);
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

function sectionFacts(uri: string, preset: Preset): features.SectionFacts {
  return {
    cost: (model) => costOf(uri, model),
    errors: startErrors(preset, reader.findings(uri)),
  };
}

connection.onCodeLens(({ textDocument }) => {
  const { uri } = textDocument;
  const labels = {
    show: words.say(say`Show memory budget`),
    probe: words.say(say`Probe`),
    start: words.say(say`Start`),
    copy: words.say(say`Copy as command line`),
    check: words.say(say`Check command line`),
  };
  const preset = reader.preset(uri);
  if (preset !== undefined) return features.lensesOf(preset, uri, sectionFacts(uri, preset), words, labels);
  const script = readScript(documents.get(uri));
  return script === undefined ? [] : scriptLenses(script, (command) => costOf(uri, command), words, labels);
});

connection.languages.inlayHint.on(({ textDocument, range }) => {
  const preset = reader.preset(textDocument.uri);
  if (preset === undefined) return [];
  return features.inlayHintsOf(preset, range, sectionFacts(textDocument.uri, preset), words);
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
  tell({ uri: document.uri, diagnostics: [] });
});
documents.listen(connection);
connection.listen();
