import { workspace, type ExtensionContext } from "vscode";
import { registerCommands } from "./client/editor/commands";
import { commandTable } from "./client/commandTable";
import { showInContextKeys } from "./client/editor/contextKeys";
import { ActiveEditorTokens } from "./client/estimate/editorTokens";
import { Gauge } from "./client/estimate/gauge";
import { keepUpToDate } from "./client/estimate/keepUpToDate";
import { startLanguageClient } from "./client/language/languageClient";
import { DisposableStore } from "./client/editor/lifecycle";
import { OutputLog } from "./client/editor/outputLog";
import { GaugePanel } from "./client/panel/panel";
import { RememberedRequest } from "./client/estimate/rememberedRequest";
import { ApiKeys } from "./client/servers/apiKeys";
import { ServerSightings } from "./client/servers/serverSightings";
import { ServerStarter } from "./client/servers/serverStarter";
import { SettingsStore } from "./client/editor/settingsStore";
import { StatusBar } from "./client/statusBar/statusBar";
import { TokenTreeView } from "./client/estimate/tokenTreeView";
import { WhatIfDesk } from "./client/panel/whatIfDesk";
import { extensionAdapters } from "./extensionAdapters";
import { startLadders } from "./client/ladder/startLadders";
import { startSpeed } from "./client/speed/startSpeed";
import { deferred } from "./core/deferred";
import { memoryLook, watchMemory } from "./extensionMemory";

/** Builds the adapters, the gauge and its surfaces; what is heavy is loaded when it is first used. */
export function activate(context: ExtensionContext): void {
  const store = new DisposableStore();
  context.subscriptions.push(store);

  const log = store.add(new OutputLog());
  const settings = store.add(new SettingsStore(log));
  const keys = new ApiKeys(context.secrets);
  const { version } = context.extension.packageJSON as { readonly version: string };
  const cacheFolder = context.globalStorageUri.fsPath;
  const host = {
    ...{ log, cacheFolder, version, logFolder: context.logUri.fsPath },
    settings: () => settings.value,
    trusted: () => workspace.isTrusted,
    apiKey: (url: string) => keys.get(url),
    attachedServer: () => starter.attached,
    situation: (signal: AbortSignal) => adapters.surroundings(signal),
    shownSituation: () => adapters.lastParts(),
  };
  const serverStart = deferred(async () => new (await import("./app/startServer")).ServerStart(host));
  const starter = store.add(new ServerStarter(serverStart));
  const sightings = store.add(new ServerSightings());
  const nearby = { attached: () => starter.attached, addresses: () => sightings.addresses() };
  const adapters = store.add(extensionAdapters({ settings, keys, log, cacheFolder, version, nearby }));

  const remembered = new RememberedRequest(context.workspaceState);
  const gauge = store.add(new Gauge(adapters.estimator, Date.now, remembered.value));
  const desk = new WhatIfDesk(adapters.whatIf, starter);
  const memory = store.add(memoryLook(gauge));
  const watch = memory.alsoFrom(watchMemory);
  const panel = store.add(new GaugePanel(context.extensionUri, gauge, log, desk, watch));
  const editorTokens = store.add(new ActiveEditorTokens(adapters.outside.countText));
  store.add(new StatusBar(gauge, editorTokens, memory));
  store.add(new TokenTreeView(gauge));
  const ladders = deferred(async () => new (await import("./app/ladders")).Ladders(host));
  store.add(startLadders({ gauge, panel, log, ladders }));

  const speed = deferred(async () => new (await import("./app/speed")).Speed(host));
  const { probes } = store.add(startSpeed({ gauge, panel, log, speed, probes: adapters.outside }));

  const costs = deferred(async () => new (await import("./app/presetCosts")).PresetCosts(host));
  const presets = store.add(startLanguageClient(context.extensionUri, log, costs));

  store.add(keepUpToDate(gauge));
  store.add(settings.onDidChange(() => gauge.markStale()));
  store.add(settings.onDidChange(() => presets.refresh()));
  store.add(starter.onDidChange(() => gauge.markStale()));
  store.add(
    gauge.onDidChange((state) => {
      showInContextKeys(state);
      if (state.status !== "ready") return;
      remembered.value = gauge.request;
      editorTokens.changed();
    }),
  );

  store.add(
    registerCommands(
      commandTable({
        ...{ version, gauge, panel, settings, keys, starter, log },
        outside: { ...adapters.outside, ...probes },
        refreshPresets: () => presets.refresh(),
      }),
      log,
    ),
  );
}
