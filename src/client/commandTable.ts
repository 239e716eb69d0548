import { env, window } from "vscode";
import { reportOf } from "../core/report/gaugeState";
import { isSectionCommand } from "../core/protocol/serverRequests";
import { say } from "../core/text";
import { UserError } from "../core/userError";
import { askForApiKey } from "./servers/apiKeyPrompt";
import type { CommandTable } from "./editor/commands";
import { runDepthProbe, type Probe } from "./speed/depthProbe";
import { diagnostics } from "./editor/diagnostics";
import { dropUntilItFits } from "./estimate/dropUntilItFits";
import type { EstimateRequest } from "./estimate/estimator";
import { runEstimate } from "./estimate/estimateTask";
import type { Gauge } from "./estimate/gauge";
import { chooseGitScope, gitScopeOfArgument, type GitOutside } from "./estimate/gitScopeChoice";
import type { OutputLog } from "./editor/outputLog";
import { reportingErrors } from "./editor/notify";
import type { LadderCommandId } from "./ladder/ladderCommands";
import { checkSelection, explainActiveLog } from "./language/languageCommands";
import { chooseModel, type ModelCandidate } from "./servers/modelChoice";
import { choosePackOrder } from "./estimate/packOrderChoice";
import type { GaugePanel } from "./panel/panel";
import { probeSection, type ProbeTarget } from "./speed/probeSection";
import { chooseOfferedModel, type OfferedModel } from "./servers/routerModelChoice";
import {
  scopeOfOpenEditors,
  scopeOfSelection,
  scopeOfUris,
  scopeOfWorkspace,
  selectedUris,
} from "./estimate/scope";
import type { ApiKeys } from "./servers/apiKeys";
import { chooseServer, serverOfArgument, type ServerCandidate } from "./servers/serverChoice";
import type { ServerStarter } from "./servers/serverStarter";
import type { SettingsStore } from "./editor/settingsStore";
import type { SpeedCommandId } from "./speed/speedCommands";
import { startServer } from "./servers/startServer";
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
  readonly outside: Outside;
  /** What sections of presets cost may have changed. */
  readonly refreshPresets: () => void;
}

/** What commands need of the world outside the editor. */
export interface Outside extends GitOutside {
  readonly discoverServers: (signal: AbortSignal) => Promise<readonly ServerCandidate[]>;
  readonly findModels: (signal: AbortSignal) => Promise<readonly ModelCandidate[]>;
  /** A server of this machine that wants an API key. */
  readonly lockedServer: (signal: AbortSignal) => Promise<string | undefined>;
  /** The models of a router or of llama-swap; empty for a server with one model. */
  readonly offeredModels: (url: string, signal: AbortSignal) => Promise<readonly OfferedModel[]>;
  /** The prompt an estimate is about, as it would be sent. */
  readonly packPrompt: (request: EstimateRequest, signal: AbortSignal) => Promise<string>;
  /** Tokens of a text; undefined where no exact tokenizer is at hand. */
  readonly countText: (text: string, signal: AbortSignal) => Promise<number | undefined>;
  /** Measures the running server's prefill by depth. */
  readonly probe: Probe;
  /** The same on a server whose options are known. */
  readonly probeOf: (target: ProbeTarget) => Probe;
  readonly now: () => number;
}

/** What each command does. */
export function commandTable(parts: CommandParts): Omit<CommandTable, LadderCommandId | SpeedCommandId> {
  const { gauge, panel, settings, keys, starter, log, outside } = parts;

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
    "llamaGauge.estimateOpenEditors": async () => estimate(await scopeOfOpenEditors(outside.now)),
    "llamaGauge.estimateSelection": () => estimate(scopeOfSelection(outside.now())),
    "llamaGauge.estimateGitChanges": async (...args) => {
      const named = gitScopeOfArgument(args[0]);
      const [clicked] = selectedUris(args);
      return estimate(await chooseGitScope(outside, clicked, named));
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
        serverOfArgument(args[0]) ?? (await chooseServer(settings.value.serverUrl, outside.discoverServers));
      if (url === undefined) return;
      const offered = url === "" ? [] : await outside.offeredModels(url, new AbortController().signal);
      const model = await chooseOfferedModel(offered, settings.value.serverModel);
      if (model === undefined) return;
      await settings.update("server.url", url === "" ? undefined : url);
      await settings.update("server.model", model === "" ? undefined : model);
      await repeat();
    },
    "llamaGauge.chooseModel": async () => {
      const model = await chooseModel(settings.value.model, outside.findModels);
      if (model === undefined) return;
      await settings.update("model", model);
      await repeat();
    },
    "llamaGauge.setApiKey": async () => {
      const url =
        settings.value.serverUrl ||
        (serverOfReport() ?? (await outside.lockedServer(new AbortController().signal)));
      if (url === undefined) {
        throw new UserError("invalidInput", say`No server is chosen.`, say`Choose a server first.`);
      }
      if (await askForApiKey(keys, url)) await repeat();
    },
    "llamaGauge.dropToFit": async () => {
      window.setStatusBarMessage(localized(await dropUntilItFits(gauge)), 5000);
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
        ? await probeSection(starter, args[0], outside.probeOf)
        : await runDepthProbe(outside.probe);
      parts.refreshPresets();
      await repeat();
      return report?.ended;
    },
    "llamaGauge.copyPackedPrompt": async () => {
      const request = gauge.request;
      if (request === undefined) {
        throw new UserError(
          "invalidInput",
          say`Nothing was estimated yet.`,
          say`Estimate files or folders first.`,
        );
      }
      await env.clipboard.writeText(await outside.packPrompt(request, new AbortController().signal));
      window.setStatusBarMessage(localized(say`Prompt copied`), 3000);
      warnOfCrash(reportOf(gauge.state));
    },
    "llamaGauge.copyDiagnostics": async () => {
      await env.clipboard.writeText(
        diagnostics(parts.version, gauge.state, settings.value, settings.problems),
      );
      window.setStatusBarMessage(localized(say`Diagnostic information copied`), 3000);
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
