import { noSpeed, type SpeedState } from "../report/speedState";
import type { LadderState } from "../ladder/report/shownLadder";
import type { GaugeReport } from "../report/gaugeReport";
import type { GaugeState } from "../report/gaugeState";
import type { ContextTable } from "../memory/budget/contextTable";
import type { LiveMemory } from "../memory/devices/liveMemory";
import { noConversationState, type ConversationState } from "./conversationMessages";
import type { PageFacts, PanelState, ToPanel } from "./panelMessages";
import type { OfferedPrescriptions, WhatIfAnswer } from "./whatIfMessages";

/** Everything the page draws from. */
export interface PanelModel {
  readonly page: PageFacts;
  readonly state: GaugeState;
  /** The last report that arrived. */
  readonly report?: GaugeReport;
  readonly ladder: LadderState;
  /** What is measured, and what was. */
  readonly speed: SpeedState;
  /** What the server in use is asked, by anybody. */
  readonly conversation: ConversationState;
  /** The report with a change tried on it; absent while nothing is. */
  readonly whatIf?: Omit<WhatIfAnswer, "report"> & { readonly report: GaugeReport };
  readonly contextTable?: ContextTable;
  /** What to change about `report`; absent while that is not known yet. */
  readonly prescriptions?: OfferedPrescriptions;
  readonly live?: LiveMemory;
}

export const emptyModel: PanelModel = {
  page: { locale: "en", translations: {}, trusted: true },
  state: { status: "idle" },
  ladder: { status: "none" },
  speed: noSpeed,
  conversation: noConversationState,
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
      return withReport(model, message.report);
    case "judged": {
      const tokens = model.report?.tokens;
      return tokens === undefined ? model : withReport(model, { ...message.report, tokens });
    }
    case "whatIf":
      return withAnswer(model, message.answer);
    case "contextTable": {
      const { contextTable: _, ...rest } = model;
      return message.table === undefined ? rest : { ...rest, contextTable: message.table };
    }
    case "prescriptions":
      return message.prescriptions.revision === model.report?.revision
        ? { ...model, prescriptions: message.prescriptions }
        : model;
    case "live": {
      const { live: _, ...rest } = model;
      return message.memory === undefined ? rest : { ...rest, live: message.memory };
    }
    case "state":
      return { ...model, state: gaugeState(message.state, model.report) };
    case "ladder":
      return { ...model, ladder: message.ladder };
    case "speed":
      return { ...model, speed: message.speed };
    case "conversation":
      return { ...model, conversation: message.conversation };
    case "reveal":
      return model;
  }
}

/** What was tried on another report is not shown on this one. */
function withReport({ whatIf: _, prescriptions: __, ...model }: PanelModel, report: GaugeReport): PanelModel {
  return { ...model, report };
}

function withAnswer({ whatIf: _, ...model }: PanelModel, answer: WhatIfAnswer | undefined): PanelModel {
  const tokens = model.report?.tokens;
  if (answer === undefined || tokens === undefined) return model;
  return { ...model, whatIf: { ...answer, report: { ...answer.report, tokens } } };
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
