import { env } from "vscode";
import type { EstimateRequest, Estimates } from "../app/estimates";
import type { Machine } from "../app/machine";
import type { Servers } from "../app/servers";
import { reportOf } from "../core/report/gaugeState";
import { isSectionCommand } from "../core/protocol/serverRequests";
import { say } from "../core/text";
import { UserError } from "../core/userError";
import { askForApiKey } from "./servers/apiKeyPrompt";
import type { ConversationCommandId } from "./conversation/startConversation";
import type { CommandTable } from "./editor/commands";
import { runDepthProbe } from "./speed/depthProbe";
import { diagnostics } from "./editor/diagnostics";
import { dropUntilItFits } from "./estimate/dropUntilItFits";
import { cancellable } from "./editor/cancellable";
import { runEstimate } from "./estimate/estimateTask";
import type { Gauge } from "./estimate/gauge";
import { chooseGitScope, gitScopeOfArgument, type Git } from "./estimate/gitScopeChoice";
import type { OutputLog } from "./editor/outputLog";
import { reportingErrors } from "./editor/notify";
import type { LadderCommandId } from "./ladder/ladderCommands";
import { checkSelection, explainActiveLog } from "./language/languageCommands";
import { chooseModel } from "./servers/modelChoice";
import { choosePackOrder } from "./estimate/packOrderChoice";
import type { GaugePanel } from "./panel/panel";
import { probeSection } from "./speed/probeSection";
import { chooseOfferedModel } from "./servers/routerModelChoice";
import {
  scopeOfOpenEditors,
  scopeOfSelection,
  scopeOfUris,
  scopeOfWorkspace,
  selectedUris,
} from "./estimate/scope";
import type { ApiKeys } from "./servers/apiKeys";
import { chooseServer, serverOfArgument } from "./servers/serverChoice";
import type { ServerStarter } from "./servers/serverStarter";
import type { SettingsStore } from "./editor/settingsStore";
import type { SpeedCommandId } from "./speed/speedCommands";
import type { Probes } from "./speed/startSpeed";
import { startServer } from "./servers/startServer";
import { showBriefly } from "./editor/screen";
import { localized } from "./editor/vscodeText";
import { warnOfCrash } from "./estimate/warnOfCrash";

export interface CommandParts {
  readonly version: string;
  readonly gauge: Gauge;
  readonly panel: GaugePanel;
  readonly settings: SettingsStore;
  readonly keys: ApiKeys;
  readonly starter: ServerStarter;
  readonly log: OutputLog;
  readonly estimates: Pick<Estimates, "packPrompt">;
  readonly servers: Pick<Servers, "candidates" | "locked" | "models">;
  readonly machine: Pick<Machine, "models"> & Git;
  readonly probes: Probes;
  /** What sections of presets cost may have changed. */
  readonly refreshPresets: () => void;
}

/** What each command does. */
export function commandTable(
  parts: CommandParts,
): Omit<CommandTable, LadderCommandId | SpeedCommandId | ConversationCommandId> {
  const { gauge, panel, settings, keys, starter, log, estimates, servers, machine, probes } = parts;

  async function estimate(request: EstimateRequest | undefined): Promise<unknown> {
    if (request === undefined) return undefined;
    // a panel that is there keeps its place and leaves the focus where it is
    if (settings.value.showPanelOnEstimate && !panel.visible) panel.show();
    const outcome = await runEstimate(gauge, request, () => panel.visible);
    if (outcome.kind === "failed" && !panel.visible) throw outcome.error;
    if (outcome.kind === "failed") log.error("The estimate failed", outcome.error);
    return outcome.kind;
  }

  return {
    "llamaGauge.estimate": async (...args) => {
      const uris = selectedUris(args);
      return estimate(uris.length > 0 ? scopeOfUris(uris) : await scopeOfWorkspace());
    },
    "llamaGauge.estimateWorkspace": async () => estimate(await scopeOfWorkspace()),
    "llamaGauge.estimateOpenEditors": async () => estimate(await scopeOfOpenEditors(Date.now)),
    "llamaGauge.estimateSelection": () => estimate(scopeOfSelection(Date.now())),
    "llamaGauge.estimateGitChanges": async (...args) => {
      const named = gitScopeOfArgument(args[0]);
      const [clicked] = selectedUris(args);
      return estimate(await chooseGitScope(machine, clicked, named));
    },
    "llamaGauge.refresh": async () => estimate(gauge.request ?? (await scopeOfWorkspace())),
    "llamaGauge.cancel": () => gauge.cancel(),
    "llamaGauge.showPanel": () => panel.show(),
    "llamaGauge.showMemoryBudget": async () => {
      panel.show("memory");
      if (gauge.state.status !== "idle") return;
      // a budget needs a model, not files
      await estimate({ label: localized(say`no files`), roots: [] });
      panel.show("memory");
    },
    "llamaGauge.chooseServer": async (...args) => {
      const url =
        serverOfArgument(args[0]) ??
        (await chooseServer(settings.value.serverUrl, (signal) => servers.candidates(signal)));
      if (url === undefined) return;
      const offered =
        url === ""
          ? []
          : await cancellable(say`Asking ${url} for its models`, (signal) => servers.models(url, signal));
      const model = await chooseOfferedModel(offered, settings.value.serverModel);
      if (model === undefined) return;
      await settings.update("server.url", url === "" ? undefined : url);
      await settings.update("server.model", model === "" ? undefined : model);
      await repeat();
    },
    "llamaGauge.chooseModel": async () => {
      const model = await chooseModel(settings.value.model, (signal) => machine.models(signal));
      if (model === undefined) return;
      await settings.update("model", model);
      await repeat();
    },
    "llamaGauge.setApiKey": async () => {
      const url =
        settings.value.serverUrl ||
        (serverOfReport() ??
          (await cancellable(say`Looking for a server that needs an API key`, (signal) =>
            servers.locked(signal),
          )));
      if (url === undefined) {
        throw new UserError("invalidInput", say`No server is selected.`, say`Choose a server first.`);
      }
      if (await askForApiKey(keys, url)) await repeat();
    },
    "llamaGauge.dropToFit": async () => {
      showBriefly(localized(await dropUntilItFits(gauge, "context")), 5000);
    },
    "llamaGauge.dropToReadInTime": async () => {
      showBriefly(localized(await dropUntilItFits(gauge, "time")), 5000);
    },
    "llamaGauge.includeAll": () => gauge.choose([]),
    "llamaGauge.choosePackOrder": async (...args) => {
      const order = await choosePackOrder(settings.value.packOrder, args[0]);
      if (order === undefined || order === settings.value.packOrder) return;
      await settings.update("packOrder", order);
      await repeat();
    },
    "llamaGauge.startServer": async (...args) => {
      const url = await startServer(starter, settings.value.serverArguments, args[0]);
      if (url !== undefined) await repeat();
      return url;
    },
    "llamaGauge.runDepthProbe": async (...args) => {
      // a section of a preset, where its code lens was clicked
      const report = isSectionCommand(args[0])
        ? await probeSection(starter, args[0], probes.probeOf)
        : await runDepthProbe(probes.probe);
      parts.refreshPresets();
      await repeat();
      return report?.ended;
    },
    "llamaGauge.copyPackedPrompt": async () => {
      const request = gauge.request;
      if (request === undefined) {
        throw new UserError(
          "invalidInput",
          say`Nothing has been estimated yet.`,
          say`Estimate files or folders first.`,
        );
      }
      const packed = await cancellable(say`Packing ${request.label}`, (signal) =>
        estimates.packPrompt(request, signal),
      );
      await env.clipboard.writeText(packed);
      showBriefly(localized(say`Prompt copied`));
      warnOfCrash(reportOf(gauge.state));
    },
    "llamaGauge.copyDiagnostics": async () => {
      await env.clipboard.writeText(
        diagnostics(parts.version, gauge.state, settings.value, settings.problems),
      );
      showBriefly(localized(say`Diagnostic information copied`));
    },
    "llamaGauge.showLog": () => log.show(),
    "llamaGauge.explainLog": explainActiveLog,
    "llamaGauge.checkCommandLine": (...args) => checkSelection(args[0]),
  };

  /** The last estimate once more, because something else has changed; that it fails does not undo the other thing. */
  async function repeat(): Promise<unknown> {
    const { request } = gauge;
    return request && reportingErrors("llamaGauge.refresh", log, () => estimate(request));
  }

  function serverOfReport(): string | undefined {
    const server = reportOf(gauge.state)?.server;
    return server?.known === true ? server.value.url : undefined;
  }
}
