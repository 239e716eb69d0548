import type { LaunchChange } from "../../core/launch/launchChange";
import { firstPlan, type PlanInput } from "../../core/protocol/conversationMessages";
import type { FromPanel, PanelSection } from "../../core/protocol/panelMessages";
import type { PanelModel } from "../../core/protocol/panelModel";
import type { Words } from "./words";

/** The page's cards, in their order; each has a choice of the same name. */
export type CardId = PanelSection;

/** What the reader has set on the page itself. */
export interface Ui extends Readonly<Record<CardId, "picture" | "table">> {
  readonly allFiles: boolean;
  /** Launch options that are tried; the extension answers what they would mean. */
  readonly whatIf: LaunchChange;
  readonly contextTable: boolean;
  /** A conversation to plan, as it stands in the form. */
  readonly plan: PlanInput;
  /** Of several servers that share a log, the one that is shown; absent: the one that worked last. */
  readonly program?: string;
  /** Width the pictures may take, in CSS pixels. */
  readonly width: number;
}

export const firstUi: Ui = {
  room: "picture",
  memory: "picture",
  wait: "picture",
  measured: "picture",
  ladder: "picture",
  conversation: "picture",
  allFiles: false,
  whatIf: {},
  contextTable: false,
  plan: firstPlan,
  width: 1100,
};

/** Everything a part of the page is drawn from. */
export interface View {
  readonly model: PanelModel;
  readonly ui: Ui;
  readonly words: Words;
  readonly post: (message: FromPanel) => void;
  readonly change: (ui: Partial<Ui>) => void;
}
