import { commands, env, l10n, languages, Uri, workspace, type TextDocument } from "vscode";
import type { LanguageClient, LanguageClientOptions } from "vscode-languageclient/node";
import type { PresetCosts } from "../../app/presetCosts";
import { scriptLanguages } from "../../core/scripts/scriptLanguages";
import { looksLikeLog } from "../../core/logs/logPhases";
import { looksLikePreset } from "../../core/preset/presetEdits";
import {
  lensCommands,
  logLanguage,
  presetLanguage,
  requests,
  type CachedModelRequest,
  type ModelFactsRequest,
  type SectionCostRequest,
  type ServerSettings,
} from "../../core/protocol/serverRequests";
import { say } from "../../core/text";
import { findingPages, findingScheme } from "./findingPages";
import { copyCommandLine, showSectionBudget, textProvider, textScheme } from "./languageCommands";
import { DisposableStore, type Disposable } from "../editor/lifecycle";
import type { OutputLog } from "../editor/outputLog";
import { reportingErrors } from "../editor/notify";
import { notify } from "../editor/screen";
import { localized } from "../editor/vscodeText";
import { inBackground } from "../editor/background";

/** What the language server asks about this machine; it may take time and may not be known. */
export type PresetQuestions = Partial<
  Pick<PresetCosts, "modelFacts" | "sectionCost" | "cachedModel" | "repositories">
>;

export interface RunningLanguageClient extends Disposable {
  /** Figures of sections may have changed (another curve, another device): ask again. */
  refresh(): void;
}

/** A server that keeps crashing is left alone after this many restarts within three minutes. */
const maxRestarts = 3;

/**
 * Starts the language server when the first model preset or llama.cpp log is opened, and not before. Files with the
 * endings .ini and .log whose content is unmistakable are given their language.
 */
export function startLanguageClient(
  extensionUri: Uri,
  log: OutputLog,
  presets: PresetQuestions = {},
): RunningLanguageClient {
  const store = new DisposableStore();
  let client: LanguageClient | undefined;
  let starting: Promise<void> | undefined;
  const ended = new AbortController();

  async function start(): Promise<void> {
    // heavy, and not needed in most windows
    const { LanguageClient, TransportKind } = await import("vscode-languageclient/node");
    const module = Uri.joinPath(extensionUri, "dist", "languageServer.js").fsPath;
    client = new LanguageClient(
      "llamaGauge.languageServer",
      "Llama Gauge Language Server",
      { module, transport: TransportKind.ipc },
      clientOptions(),
    );
    client.onRequest(requests.modelFacts, async ({ path }: ModelFactsRequest) => {
      if (!workspace.isTrusted) return null;
      return (await presets.modelFacts?.(path, ended.signal)) ?? null;
    });
    client.onRequest(requests.sectionCost, async (request: SectionCostRequest) => {
      if (!workspace.isTrusted) return null;
      return (await presets.sectionCost?.(request, ended.signal)) ?? null;
    });
    client.onRequest(requests.cachedModel, async (request: CachedModelRequest) => {
      if (!workspace.isTrusted) return null;
      return (await presets.cachedModel?.(request, ended.signal)) ?? null;
    });
    client.onRequest(requests.repositories, async () => {
      if (!workspace.isTrusted) return [];
      return (await presets.repositories?.(ended.signal)) ?? [];
    });
    try {
      await client.start();
    } catch (error) {
      log.error("The language server did not start", error);
      inBackground(
        notify(
          "warning",
          localized(
            say`Llama Gauge cannot check model presets: its language server did not start. See the log for details.`,
          ),
        ),
      );
    }
  }

  const notice = (document: TextDocument): void => {
    const language = languageOf(document);
    if (language === undefined) return;
    if (starting === undefined) inBackground((starting = start()));
    if (language === "script") return;
    if (document.languageId !== language) inBackground(languages.setTextDocumentLanguage(document, language));
  };
  const refresh = (): void => {
    const settings: Partial<ServerSettings> = { trusted: workspace.isTrusted };
    if (client?.isRunning() === true) inBackground(client.sendNotification(requests.refresh, settings));
  };

  workspace.textDocuments.forEach(notice);
  store.add(workspace.onDidOpenTextDocument(notice));
  store.add(workspace.registerTextDocumentContentProvider(textScheme, textProvider));
  store.add(workspace.registerTextDocumentContentProvider(findingScheme, findingPages(extensionUri)));
  store.add(commands.registerCommand(lensCommands.copyCommandLine, copyCommandLine));
  store.add(
    commands.registerCommand(lensCommands.showBudget, (...args: readonly unknown[]) =>
      reportingErrors(lensCommands.showBudget, log, () => showSectionBudget(...args)),
    ),
  );
  store.add(workspace.onDidGrantWorkspaceTrust(refresh));
  store.add({
    dispose: () => {
      ended.abort(new Error("The extension was stopped."));
      client?.dispose(2000).catch(() => undefined);
    },
  });
  return { refresh, dispose: () => store.dispose() };
}

function clientOptions(): LanguageClientOptions {
  const settings: ServerSettings = {
    trusted: workspace.isTrusted,
    locale: env.language,
    translations: l10n.bundle ?? {},
    documentation: `${findingScheme}:`,
  };
  return {
    documentSelector: [presetLanguage, logLanguage, ...scriptLanguages].map((language) => ({ language })),
    initializationOptions: settings,
    connectionOptions: { maxRestartCount: maxRestarts },
    diagnosticCollectionName: "llamaGauge",
  };
}

/** The language a document has or should have; a look at more than its head would be slow. */
function languageOf(document: TextDocument): string | undefined {
  const { languageId, uri } = document;
  if (languageId === presetLanguage || languageId === logLanguage) return languageId;
  const onDisk = uri.scheme === "file" || uri.scheme === "vscode-remote";
  const head = (): string => document.getText().slice(0, 20_000);
  // before scripts: systemd's units, which are read as scripts, are of the same languages
  if (
    onDisk &&
    /\.ini$/i.test(uri.path) &&
    /^(ini|properties|plaintext)$/.test(languageId) &&
    looksLikePreset(head())
  ) {
    return presetLanguage;
  }
  if (scriptLanguages.some((each) => each === languageId)) {
    return /\bllama-server|\bllama\s+serve/.test(document.getText().slice(0, 100_000)) ? "script" : undefined;
  }
  if (onDisk && /\.log$/i.test(uri.path) && /^(log|plaintext)$/.test(languageId) && looksLikeLog(head()))
    return logLanguage;
  return undefined;
}
