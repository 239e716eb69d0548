import { StatusBarAlignment, window, type StatusBarItem } from "vscode";
import type { SpeedState } from "../../core/report/speedState";
import { livePrefillShort, livePrefillText } from "../../core/prefill/livePrefill";
import { say, seconds, type Text } from "../../core/text";
import { setContextKey } from "../editor/contextKeys";
import { DisposableStore, type Disposable } from "../editor/lifecycle";
import type { SpeedBoard } from "./speedBoard";
import { localized } from "../editor/vscodeText";

/** A second item beside the gauge's, there only while something is measured or a prompt is read. */
export class SpeedStatus implements Disposable {
  private readonly store = new DisposableStore();
  private readonly item: StatusBarItem;

  constructor(board: SpeedBoard) {
    this.item = this.store.add(window.createStatusBarItem("llamaGauge.speed", StatusBarAlignment.Left, 19));
    this.item.name = "Llama Gauge: Speed";
    this.store.add(board.onDidChange((state) => this.draw(state)));
  }

  dispose(): void {
    this.store.dispose();
  }

  private draw(state: SpeedState): void {
    setContextKey("llamaGauge.measuring", state.running !== undefined);
    const shown = speedStatus(state);
    if (shown === undefined) {
      this.item.hide();
      return;
    }
    this.item.text = `$(loading~spin) ${localized(shown.short)}`;
    this.item.tooltip = localized(shown.long);
    this.item.accessibilityInformation = { label: localized(shown.long), role: "button" };
    this.item.command = "llamaGauge.showPanel";
    this.item.show();
  }
}

/** What the item says; undefined: nothing is measured and nothing is read. */
export function speedStatus({
  running,
  live,
}: SpeedState): { readonly short: Text; readonly long: Text } | undefined {
  if (running !== undefined) {
    const { title, plan, progress } = running;
    const short =
      progress?.phase === "measuring" ? say`${title}: ${seconds(progress.remainingSeconds)} to go` : title;
    return { short, long: plan === undefined ? short : say`${short}. ${plan}` };
  }
  return live === undefined ? undefined : { short: livePrefillShort(live), long: livePrefillText(live) };
}
