import type { SpeedState } from "../../core/report/speedState";
import { livePrefillShort, livePrefillText } from "../../core/prefill/livePrefill";
import { say, seconds, type Text } from "../../core/text";
import { setContextKey } from "../editor/contextKeys";
import { DisposableStore, type Disposable } from "../editor/lifecycle";
import type { SpeedMeasurements } from "./speedMeasurements";
import { codicon, together } from "../../core/shown";
import { StatusItem } from "../editor/screen";
import { localized } from "../editor/vscodeText";

/** A second item beside the gauge's, there only while something is measured or a prompt is read. */
export class SpeedStatus implements Disposable {
  private readonly store = new DisposableStore();
  private readonly item = this.store.add(
    new StatusItem("llamaGauge.speed", 19, "Llama Gauge: Speed", "llamaGauge.showPanel"),
  );

  constructor(measurements: SpeedMeasurements) {
    this.store.add(measurements.onDidChange((state) => this.draw(state)));
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
    const long = localized(shown.long);
    this.item.show({
      text: together([codicon("loading~spin"), localized(shown.short)], " "),
      tooltip: long,
      label: long,
    });
  }
}

/** What the item says; undefined: nothing is measured and nothing is read. */
function speedStatus({
  running,
  live,
}: SpeedState): { readonly short: Text; readonly long: Text } | undefined {
  if (running !== undefined) {
    const { title, plan, progress } = running;
    const short =
      progress?.phase === "measuring" ? say`${title}: ${seconds(progress.remainingSeconds)} left` : title;
    return { short, long: plan === undefined ? short : say`${short}. ${plan}` };
  }
  return live === undefined ? undefined : { short: livePrefillShort(live), long: livePrefillText(live) };
}
