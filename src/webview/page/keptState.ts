import { emptyModel, type PanelModel } from "../../core/protocol/panelModel";
import type { GaugeReport } from "../../core/report/gaugeReport";
import { firstUi, type Ui } from "../view/view";

/** What the page keeps through hiding and reloading. */
interface Kept {
  readonly version: 1;
  readonly ui: Ui;
  readonly report?: GaugeReport;
}

/** Larger reports are not kept: VS Code writes this state to disk. */
const mostFiles = 2000;

export function keep(model: PanelModel, ui: Ui): Kept {
  const small = model.report !== undefined && model.report.tokens.files.length <= mostFiles;
  return { version: 1, ui, ...(small ? { report: model.report } : {}) };
}

/** The state a page starts with. What another version kept is dropped. */
export function restore(state: unknown): { readonly model: PanelModel; readonly ui: Ui } {
  if (!isKept(state)) return { model: emptyModel, ui: firstUi };
  const { ui, report } = state;
  const model: PanelModel =
    report === undefined
      ? emptyModel
      : { ...emptyModel, report, state: { status: "ready", report, stale: true } };
  return { model, ui: { ...firstUi, ...ui } };
}

function isKept(state: unknown): state is Kept {
  return typeof state === "object" && state !== null && "version" in state && state.version === 1;
}
