import { Uri, workspace, type ExtensionContext } from "vscode";
import type { AppHost } from "../app/host";
import type { OutputLog } from "./editor/outputLog";
import type { SettingsStore } from "./editor/settingsStore";
import type { Gauge } from "./estimate/gauge";
import { unsavedTexts } from "./estimate/unsavedTexts";
import { askForApiKey } from "./servers/apiKeyPrompt";
import type { ApiKeys } from "./servers/apiKeys";
import type { ServersInEditor } from "./servers/serversInEditor";
import type { ServerStarter } from "./servers/serverStarter";

export interface EditorHostParts {
  readonly context: ExtensionContext;
  readonly log: OutputLog;
  readonly settings: SettingsStore;
  readonly keys: ApiKeys;
  readonly serversInEditor: ServersInEditor;
  /** These are made later, and need the app themselves. */
  readonly starter: () => ServerStarter;
  readonly gauge: () => Gauge;
}

/** What the app is told by the editor. */
export function editorHost(parts: EditorHostParts): AppHost {
  const { context, log, settings, keys, serversInEditor } = parts;
  const { version } = context.extension.packageJSON as { readonly version: string };
  return {
    ...{ log, version, cacheFolder: context.globalStorageUri.fsPath, logFolder: context.logUri.fsPath },
    settings: () => settings.value,
    trusted: () => workspace.isTrusted,
    apiKey: (url) => keys.get(url),
    askForApiKey: (url) => askForApiKey(keys, url),
    attachedServer: () => parts.starter().attached,
    serverAddresses: () => serversInEditor.addresses(),
    shownSituation: () => parts.gauge().shown?.situation,
    workspaceFolders: () =>
      (workspace.workspaceFolders ?? []).flatMap(({ uri }) => (uri.scheme === "file" ? [uri.fsPath] : [])),
    unsavedTexts,
    decode: async (bytes, file) => workspace.decode(bytes, { uri: Uri.file(file) }),
  };
}
