import type { ExtensionContext } from "vscode";
import { registerCommands } from "./client/commands";
import { commandTable } from "./client/commandTable";
import { setContextKey } from "./client/contextKeys";
import { Gauge } from "./client/gauge";
import { startLanguageClient } from "./client/languageClient";
import { DisposableStore } from "./client/lifecycle";
import { OutputLog } from "./client/log";
import { GaugePanel } from "./client/panel";
import { RememberedRequest } from "./client/rememberedRequest";
import { ApiKeys } from "./client/secrets";
import { SettingsStore } from "./client/settingsStore";
import { watchForStaleness } from "./client/staleness";
import { StatusBar } from "./client/statusBar";
import { TokenTreeView } from "./client/tokenTreeView";
import { reportOf } from "./core/protocol/panelMessages";
import { extensionAdapters } from "./extensionAdapters";
import { languageOutside } from "./extensionLanguage";

/** Builds the adapters, the gauge and its surfaces; what is heavy is loaded when it is first used. */
export function activate(context: ExtensionContext): void {
  const store = new DisposableStore();
  context.subscriptions.push(store);

  const log = store.add(new OutputLog());
  const settings = store.add(new SettingsStore(log));
  const keys = new ApiKeys(context.secrets);
  const adapters = extensionAdapters({
    settings,
    keys,
    log,
    cacheFolder: context.globalStorageUri.fsPath,
  });

  const remembered = new RememberedRequest(context.workspaceState);
  const gauge = store.add(new Gauge(adapters.estimator, Date.now, remembered.value));
  const panel = store.add(new GaugePanel(context.extensionUri, gauge, log));
  store.add(new StatusBar(gauge));
  store.add(new TokenTreeView(gauge));

  store.add(startLanguageClient(context.extensionUri, log, languageOutside()));

  store.add(watchForStaleness(gauge));
  store.add(settings.onDidChange(() => gauge.markStale()));
  store.add(
    gauge.onDidChange((state) => {
      setContextKey("llamaGauge.counting", state.status === "counting");
      setContextKey("llamaGauge.hasReport", reportOf(state) !== undefined);
      if (state.status === "ready") remembered.value = gauge.request;
    }),
  );

  const { version } = context.extension.packageJSON as { readonly version: string };
  store.add(
    registerCommands(
      commandTable({ version, gauge, panel, settings, keys, log, outside: adapters.outside }),
      log,
    ),
  );
}
