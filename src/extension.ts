import { window, workspace, type ExtensionContext } from "vscode";
import type { App } from "./app/app";
import { commandTable } from "./client/commandTable";
import { inBackground } from "./client/editor/background";
import { registerCommands } from "./client/editor/commands";
import { showInContextKeys } from "./client/editor/contextKeys";
import { DisposableStore } from "./client/editor/lifecycle";
import { OutputLog } from "./client/editor/outputLog";
import { SettingsStore } from "./client/editor/settingsStore";
import { editorHost } from "./client/editorHost";
import { registerAgentTools } from "./client/estimate/agentToolsInEditor";
import { ActiveEditorTokens } from "./client/estimate/editorTokens";
import { startConversation } from "./client/conversation/startConversation";
import { Gauge } from "./client/estimate/gauge";
import { keepUpToDate } from "./client/estimate/keepUpToDate";
import { RememberedRequest } from "./client/estimate/rememberedRequest";
import { TokenTreeView } from "./client/estimate/tokenTreeView";
import { startLadders } from "./client/ladder/startLadders";
import { startLanguageClient } from "./client/language/languageClient";
import { LatestMemory } from "./client/panel/latestMemory";
import { GaugePanel } from "./client/panel/panel";
import { ApiKeys } from "./client/servers/apiKeys";
import { ServersInEditor } from "./client/servers/serversInEditor";
import { ServerStarter } from "./client/servers/serverStarter";
import { startSpeed } from "./client/speed/startSpeed";
import { StatusBar } from "./client/statusBar/statusBar";
import { deferred, type Deferred } from "./core/deferred";

/** Hands the editor to the app and builds the surfaces; the app is loaded when it is first asked something. */
export function activate(context: ExtensionContext): void {
  const store = new DisposableStore();
  context.subscriptions.push(store);

  const log = store.add(new OutputLog());
  const settings = store.add(new SettingsStore(log));
  const keys = new ApiKeys(context.secrets);
  const serversInEditor = store.add(new ServersInEditor());
  const later = { starter: () => starter, gauge: () => gauge };
  const host = editorHost({ context, log, settings, keys, serversInEditor, ...later });

  let app: Promise<App> | undefined;
  const useCases = <T extends object>(choose: (app: App) => T): Deferred<T> =>
    deferred(async () => choose(await (app ??= import("./app/app").then((its) => new its.App(host)))));
  store.add({
    dispose: () => {
      if (app !== undefined) inBackground(app.then((its) => its.close()));
    },
  });
  const estimates = useCases((its) => its.estimates);
  const servers = useCases((its) => its.servers);
  const machine = useCases((its) => its.machine);

  const starter = store.add(new ServerStarter(useCases((its) => its.serverStart)));
  const remembered = new RememberedRequest(context.workspaceState);
  const gauge = store.add(new Gauge(estimates, Date.now, remembered.value));
  const isSeen = (): boolean => window.state.focused && workspace.isTrusted;
  const memory = store.add(new LatestMemory({ gauge, machine, isSeen, now: Date.now }));
  const panel = store.add(new GaugePanel(context.extensionUri, gauge, log, starter, memory));
  const editorTokens = store.add(new ActiveEditorTokens(gauge));
  store.add(new StatusBar(gauge, editorTokens, memory));
  store.add(new TokenTreeView(gauge));
  store.add(startLadders({ gauge, panel, log, ladders: useCases((its) => its.ladders) }));
  const speed = useCases((its) => its.speed);
  const measuring = store.add(startSpeed({ gauge, panel, log, speed, estimates }));
  const { probes, measurements, watch: serverWatch } = measuring;
  const liveLedger = useCases((its) => its.liveLedger);
  const surroundings = { gauge, panel, settings, starter, log, speed };
  store.add(startConversation({ ...surroundings, measurements, serverWatch, liveLedger }));
  const presetCosts = useCases((its) => its.presetCosts);
  const presets = store.add(startLanguageClient(context.extensionUri, log, presetCosts));

  store.add(registerAgentTools(useCases((its) => its.agents)));
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

  const refreshPresets = (): void => presets.refresh();
  const surfaces = { gauge, panel, settings, keys, starter, log };
  const table = commandTable({
    ...{ version: host.version, ...surfaces, estimates, servers, machine, probes, refreshPresets },
  });
  store.add(registerCommands(table, log));
}
