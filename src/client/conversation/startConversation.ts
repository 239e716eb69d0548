import { window, workspace } from "vscode";
import type { LiveLedger } from "../../app/logs/liveLedger";
import type { Speed } from "../../app/speed";
import type { Deferred } from "../../core/deferred";
import type { Log } from "../../core/log";
import { reportOf } from "../../core/report/gaugeState";
import { say } from "../../core/text";
import type { CommandTable } from "../editor/commands";
import { registerCommands } from "../editor/commands";
import { DisposableStore, type Disposable } from "../editor/lifecycle";
import { pick } from "../editor/screen";
import type { SettingsStore } from "../editor/settingsStore";
import { localized } from "../editor/vscodeText";
import type { Gauge } from "../estimate/gauge";
import type { GaugePanel } from "../panel/panel";
import type { ServerStarter } from "../servers/serverStarter";
import type { SpeedMeasurements } from "../speed/speedMeasurements";
import type { ServerWatch } from "../speed/serverWatch";
import { ConversationPart } from "./conversationPart";
import { ConversationStatus } from "./conversationStatus";
import { ConversationWatch } from "./conversationWatch";

export interface ConversationParts {
  readonly gauge: Gauge;
  readonly panel: GaugePanel;
  readonly settings: SettingsStore;
  readonly starter: ServerStarter;
  readonly log: Log;
  readonly measurements: SpeedMeasurements;
  readonly serverWatch: ServerWatch;
  readonly liveLedger: Deferred<LiveLedger>;
  readonly speed: Pick<Speed, "learn">;
}

export type ConversationCommandId = "llamaGauge.showConversation" | "llamaGauge.chooseServerLog";

/** Everything about the requests of the server in use: the watch over its log, the card, the status and the commands. */
export function startConversation(parts: ConversationParts): Disposable {
  const store = new DisposableStore();
  const { gauge, panel, settings, starter, log, measurements, serverWatch, liveLedger, speed } = parts;
  const hasReason = (): boolean =>
    reportOf(gauge.state) !== undefined || starter.attached !== undefined || settings.value.serverLog !== "";
  const watch = store.add(
    new ConversationWatch({
      gauge,
      measurements,
      loadShowing: async () => new (await import("../../core/conversation/showing")).Showing(),
      follow: (show) => liveLedger.follow(show),
      learn: (timing) => {
        speed.learn(timing).catch((error: unknown) => log.error("A request was not written down", error));
      },
      isWanted: () => workspace.isTrusted && (panel.visible || (window.state.focused && hasReason())),
      now: Date.now,
    }),
  );
  serverWatch.lookedBy(watch);
  panel.add(store.add(new ConversationPart(watch, gauge)));
  store.add(new ConversationStatus(watch, Date.now));
  store.add(window.onDidChangeWindowState(() => watch.update()));
  store.add(panel.onDidChangeVisibility(() => watch.update()));
  store.add(workspace.onDidGrantWorkspaceTrust(() => watch.update()));
  store.add(starter.onDidChange(() => watch.restart()));
  let chosen = settings.value.serverLog;
  store.add(
    settings.onDidChange(() => {
      if (settings.value.serverLog === chosen) return;
      chosen = settings.value.serverLog;
      watch.restart();
    }),
  );
  watch.update();
  store.add(registerCommands(conversationCommands(panel, settings), log));
  return store;
}

function conversationCommands(
  panel: Pick<GaugePanel, "show">,
  settings: SettingsStore,
): Pick<CommandTable, ConversationCommandId> {
  return {
    "llamaGauge.showConversation": () => panel.show("conversation"),
    "llamaGauge.chooseServerLog": async (...args) => {
      const file = typeof args[0] === "string" ? args[0] : await askForLog(settings.value.serverLog);
      if (file === undefined) return;
      await settings.update("server.log", file === "" ? undefined : file);
      panel.show("conversation");
    },
  };
}

/** Empty: that of the server in use. */
async function askForLog(chosen: string): Promise<string | undefined> {
  const another = localized(say`Choose a log file…`);
  if (chosen !== "") {
    const picked = await pick(
      [
        { label: localized(say`The log of the server in use`) },
        { label: another, description: localized(say`now: ${chosen}`) },
      ],
      { title: localized(say`Choose Server Log`) },
    );
    if (picked === undefined) return undefined;
    if (picked.label !== another) return "";
  }
  const [file] =
    (await window.showOpenDialog({
      title: localized(say`Choose Server Log`),
      openLabel: localized(say`Choose`),
      canSelectMany: false,
    })) ?? [];
  return file?.fsPath;
}
