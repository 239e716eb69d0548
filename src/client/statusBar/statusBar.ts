import { env, MarkdownString, StatusBarAlignment, ThemeColor, window, type StatusBarItem } from "vscode";
import type { ActiveEditorTokens } from "../estimate/editorTokens";
import type { Gauge } from "../estimate/gauge";
import { DisposableStore, type Disposable } from "../editor/lifecycle";
import type { MemoryLook } from "../panel/memoryLook";
import { statusView, tooltipCommands } from "./statusView";
import { localized } from "../editor/vscodeText";

/** The gauge's one item, on the left with the other items about the whole window. */
export class StatusBar implements Disposable {
  private readonly store = new DisposableStore();
  private readonly item: StatusBarItem;

  constructor(
    private readonly gauge: Gauge,
    private readonly editor: ActiveEditorTokens,
    private readonly memory: MemoryLook,
  ) {
    this.item = this.store.add(window.createStatusBarItem("llamaGauge.status", StatusBarAlignment.Left, 20));
    this.item.name = "Llama Gauge";
    this.item.command = "llamaGauge.showPanel";
    this.store.add(gauge.onDidChange(() => this.draw()));
    this.store.add(editor.onDidChange(() => this.draw()));
    this.store.add(memory.onDidChange(() => this.draw()));
    this.store.add(
      window.onDidChangeWindowState(({ focused }) => {
        if (focused) memory.resume();
      }),
    );
    this.draw();
    this.item.show();
  }

  dispose(): void {
    this.store.dispose();
  }

  private draw(): void {
    const view = statusView(this.gauge.state, localized, env.language, {
      editor: this.editor.value,
      live: this.memory.value,
    });
    const tooltip = new MarkdownString(view.tooltip, true);
    tooltip.isTrusted = { enabledCommands: tooltipCommands };
    this.item.text = view.text;
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: view.accessibleLabel, role: "button" };
    this.item.backgroundColor = view.warning ? new ThemeColor("statusBarItem.warningBackground") : undefined;
  }
}
