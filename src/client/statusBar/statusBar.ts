import { env, window } from "vscode";
import type { ActiveEditorTokens } from "../estimate/editorTokens";
import type { Gauge } from "../estimate/gauge";
import { DisposableStore, type Disposable } from "../editor/lifecycle";
import type { LatestMemory } from "../panel/latestMemory";
import { statusView, tooltipCommands } from "./statusView";
import { markdownString, StatusItem } from "../editor/screen";
import { localized } from "../editor/vscodeText";

/** The gauge's one item, on the left with the other items about the whole window. */
export class StatusBar implements Disposable {
  private readonly store = new DisposableStore();
  private readonly item = this.store.add(
    new StatusItem("llamaGauge.status", 20, "Llama Gauge", "llamaGauge.showPanel"),
  );

  constructor(
    private readonly gauge: Gauge,
    private readonly editor: ActiveEditorTokens,
    private readonly memory: LatestMemory,
  ) {
    this.store.add(gauge.onDidChange(() => this.draw()));
    this.store.add(editor.onDidChange(() => this.draw()));
    this.store.add(memory.onDidChange(() => this.draw()));
    this.store.add(
      window.onDidChangeWindowState(({ focused }) => {
        if (focused) memory.resume();
      }),
    );
    this.draw();
  }

  dispose(): void {
    this.store.dispose();
  }

  private draw(): void {
    const view = statusView(this.gauge.state, localized, env.language, {
      editor: this.editor.value,
      live: this.memory.value,
    });
    this.item.show({
      text: view.text,
      tooltip: markdownString(view.tooltip, tooltipCommands),
      label: view.accessibleLabel,
      severity: view.severity,
    });
  }
}
