import { commands, env, l10n, Uri, ViewColumn, window, workspace, type WebviewPanel } from "vscode";
import {
  fromPanel,
  panelStateOf,
  type FromPanel,
  type PanelCommand,
  type PanelSection,
  type ToPanel,
} from "../../core/protocol/panelMessages";
import { reportOf } from "../../core/report/gaugeState";
import type { Log } from "../../core/log";
import type { TokenCount } from "../../core/tokens/tokenCount";
import { isAbort } from "../editor/cancellation";
import type { CommandId } from "../editor/commandIds";
import type { Gauge } from "../estimate/gauge";
import { DisposableStore, Emitter, type Disposable } from "../editor/lifecycle";
import { reportingErrors } from "../editor/notify";
import type { ServerStarter } from "../servers/serverStarter";
import { panelHtml } from "./panelHtml";
import type { PanelPart } from "./panelPart";
import { LivePanel } from "./livePanel";
import type { LatestMemory } from "./latestMemory";
import { WhatIfPanel } from "./whatIfPanel";
import { saveFile } from "./saveFile";
import { inBackground } from "../editor/background";

const viewType = "llamaGauge.panel";

/** Each of the page's commands is one of ours, but for one of VS Code's. */
const commandOf = (command: PanelCommand): CommandId | "workbench.trust.manage" =>
  command === "manageTrust" ? "workbench.trust.manage" : `llamaGauge.${command}`;

/** The one panel of a window. It is drawn from the gauge's state and sends back commands, nothing else. */
export class GaugePanel implements Disposable {
  private readonly store = new DisposableStore();
  private shown: { readonly panel: WebviewPanel; readonly store: DisposableStore } | undefined;
  private sentRevision: number | undefined;
  private sentTokens: TokenCount | undefined;
  private pageReady = false;
  private wantedSection: PanelSection | undefined;
  private readonly parts: PanelPart[] = [];
  private readonly whatIf: WhatIfPanel;
  private readonly live: LivePanel;
  private readonly seen = this.store.add(new Emitter<void>());

  /** Fires when the panel comes into view and when it goes. */
  readonly onDidChangeVisibility = this.seen.event;

  constructor(
    private readonly extensionUri: Uri,
    private readonly gauge: Gauge,
    private readonly log: Log,
    starter: ServerStarter,
    memory: Pick<LatestMemory, "watch">,
  ) {
    this.whatIf = new WhatIfPanel(gauge, starter, (message) => this.post(message));
    this.live = this.store.add(new LivePanel(memory, (live) => this.post({ type: "live", memory: live })));
    this.store.add(gauge.onDidChange(() => this.send()));
    this.store.add(workspace.onDidGrantWorkspaceTrust(() => this.sendAll()));
    this.store.add(
      window.registerWebviewPanelSerializer(viewType, {
        deserializeWebviewPanel: (panel) => {
          this.adopt(panel);
          return Promise.resolve();
        },
      }),
    );
  }

  /** Draws this, too. */
  add(part: PanelPart): void {
    this.parts.push(part);
    this.store.add(part.onDidChange(() => this.sendPart(part)));
  }

  get visible(): boolean {
    return this.shown?.panel.visible === true;
  }

  show(section?: PanelSection): void {
    this.wantedSection = section;
    if (this.shown === undefined) {
      this.adopt(
        window.createWebviewPanel(viewType, "Llama Gauge", ViewColumn.Active, {
          enableScripts: true,
          localResourceRoots: [Uri.joinPath(this.extensionUri, "dist")],
        }),
      );
    } else {
      this.shown.panel.reveal();
      this.reveal();
    }
  }

  dispose(): void {
    this.shown?.panel.dispose();
    this.store.dispose();
  }

  private adopt(panel: WebviewPanel): void {
    this.shown?.panel.dispose();
    const store = new DisposableStore();
    const shown = { panel, store };
    this.shown = shown;
    this.pageReady = false;
    const { webview } = panel;
    panel.iconPath = {
      light: Uri.joinPath(this.extensionUri, "media", "panel-light.svg"),
      dark: Uri.joinPath(this.extensionUri, "media", "panel-dark.svg"),
    };
    store.add(webview.onDidReceiveMessage((message: unknown) => this.receive(message)));
    store.add(
      panel.onDidChangeViewState(() => {
        this.pageReady &&= panel.visible;
        this.updateLive();
        this.seen.fire();
      }),
    );
    panel.onDidDispose(() => {
      store.dispose();
      if (this.shown === shown) this.shown = undefined;
      this.updateLive();
      this.seen.fire();
    });
    webview.html = panelHtml(
      {
        script: webview.asWebviewUri(Uri.joinPath(this.extensionUri, "dist", "webview.js")).toString(),
        style: webview.asWebviewUri(Uri.joinPath(this.extensionUri, "dist", "webview.css")).toString(),
        cspSource: webview.cspSource,
      },
      env.language,
    );
  }

  private receive(message: unknown): void {
    const action = fromPanel(message);
    if (action === undefined) this.log.warn(`The panel sent something unknown: ${JSON.stringify(message)}`);
    else this.act(action);
  }

  private act(action: FromPanel): void {
    switch (action.type) {
      case "ready":
        this.pageReady = true;
        this.sendAll();
        for (const part of this.parts) {
          part.pageOpened().catch((error: unknown) => {
            if (!isAbort(error)) this.log.error("A part of the panel cannot be read", error);
          });
        }
        this.reveal();
        return;
      case "command":
        inBackground(commands.executeCommand(commandOf(action.command)));
        return;
      case "leaveOut":
        this.leaveOut(action.paths, action.out);
        return;
      case "whatIf":
      case "whatIfAction":
      case "contextTable":
        inBackground(reportingErrors("What if", this.log, () => this.whatIf.receive(action)));
        return;
      case "planConversation":
        for (const part of this.parts) part.receive?.(action);
        return;
      case "packOrder":
        inBackground(commands.executeCommand("llamaGauge.choosePackOrder" satisfies CommandId, action.order));
        return;
      case "save":
        inBackground(reportingErrors("Save", this.log, () => saveFile(action.name, action.files)));
        return;
      case "openFile": {
        // only files of the report: the page's text is not trusted with a free choice of path
        const files = reportOf(this.gauge.state)?.tokens.files ?? [];
        const known = files.find(({ file }) => file.path === action.path);
        if (known !== undefined)
          inBackground(commands.executeCommand("vscode.open", Uri.file(known.file.path)));
        return;
      }
    }
  }

  /** The page names files; those the report does not know are nobody's. */
  private leaveOut(paths: readonly string[], out: boolean): void {
    const report = reportOf(this.gauge.state);
    if (report === undefined) return;
    const known = new Set(report.tokens.files.map(({ file }) => file.path));
    const leftOut = new Set(report.leftOut);
    for (const path of paths) {
      if (!out) leftOut.delete(path);
      else if (known.has(path)) leftOut.add(path);
    }
    this.gauge.choose([...leftOut]);
  }

  private reveal(): void {
    if (!this.pageReady || this.wantedSection === undefined) return;
    this.post({ type: "reveal", section: this.wantedSection });
    this.wantedSection = undefined;
  }

  private sendAll(): void {
    this.sentRevision = undefined;
    this.sentTokens = undefined;
    this.post({
      type: "page",
      locale: env.language,
      translations: l10n.bundle ?? {},
      trusted: workspace.isTrusted,
    });
    for (const part of this.parts) this.sendPart(part);
    this.send();
  }

  private sendPart(part: PanelPart): void {
    if (this.pageReady) this.post(part.message);
  }

  /** Memory is of interest where a budget is shown. */
  private updateLive(): void {
    const report = reportOf(this.gauge.state);
    const server = report?.server.known === true ? report.server.value.url : undefined;
    this.live.update(this.pageReady && report?.memory.known === true, server);
  }

  private send(): void {
    this.updateLive();
    if (!this.pageReady) return;
    const { state } = this.gauge;
    const report = reportOf(state);
    if (report !== undefined && report.revision !== this.sentRevision) {
      this.sentRevision = report.revision;
      const { tokens, ...rest } = report;
      if (tokens === this.sentTokens) this.post({ type: "judged", report: rest });
      else this.post({ type: "report", report });
      this.sentTokens = tokens;
      inBackground(this.whatIf.renew());
    }
    this.post({ type: "state", state: panelStateOf(state) });
  }

  private post(message: ToPanel): void {
    // a page that is being closed takes no more
    if (this.shown !== undefined) inBackground(this.shown.panel.webview.postMessage(message));
  }
}
