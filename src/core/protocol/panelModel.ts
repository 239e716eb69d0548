import type { GaugeReport } from "../report/gaugeReport";
import type { GaugeState } from "../report/gaugeState";
import type { PageFacts, PanelState, ToPanel } from "./panelMessages";

/** Everything the page draws from. */
export interface PanelModel {
  readonly page: PageFacts;
  readonly state: GaugeState;
  /** The last report that arrived. */
  readonly report?: GaugeReport;
}

export const emptyModel: PanelModel = {
  page: { locale: "en", translations: {}, trusted: true },
  state: { status: "idle" },
};

/** The model after a message. A report kept from before a reload stays on show, as stale, until a new one arrives. */
export function applyMessage(model: PanelModel, message: ToPanel): PanelModel {
  switch (message.type) {
    case "page":
      return {
        ...model,
        page: { locale: message.locale, translations: message.translations, trusted: message.trusted },
      };
    case "report":
      return { ...model, report: message.report };
    case "judged": {
      const tokens = model.report?.tokens;
      return tokens === undefined ? model : { ...model, report: { ...message.report, tokens } };
    }
    case "state":
      return { ...model, state: gaugeState(message.state, model.report) };
    case "reveal":
      return model;
  }
}

function gaugeState(state: PanelState, report: GaugeReport | undefined): GaugeState {
  const last = report === undefined ? {} : { last: report };
  switch (state.status) {
    case "idle":
      return report === undefined ? { status: "idle" } : { status: "ready", report, stale: true };
    case "ready":
      return report === undefined ? { status: "idle" } : { status: "ready", report, stale: state.stale };
    case "counting":
      return { status: "counting", progress: state.progress, ...last };
    case "failed":
      return { status: "failed", failure: state.failure, ...last };
  }
}
