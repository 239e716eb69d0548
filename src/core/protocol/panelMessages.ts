import { reportOf, type EstimateProgress, type Failure, type GaugeState } from "../report/gaugeState";
import type { GaugeReport } from "../report/gaugeReport";
import type { SpeedState } from "../report/speedState";
import type { LadderState } from "../ladder/report/shownLadder";
import { planInput, type ConversationState, type PlanInput } from "./conversationMessages";
import { savedFile, type SavedFile } from "./savedFiles";
import { whatIfFromPanel, type WhatIfFromPanel, type WhatIfToPanel } from "./whatIfMessages";
import { packOrders, type PackOrder } from "../tokens/packOrder";

/**
 * Host to panel. On `ready` the page gets everything; afterwards a report travels once and states only name its
 * revision, so that progress on top of a large report stays cheap.
 */
export type ToPanel =
  | ({ readonly type: "page" } & PageFacts)
  | { readonly type: "report"; readonly report: GaugeReport }
  /** Another report about the same counted files, which the page has already. */
  | { readonly type: "judged"; readonly report: Omit<GaugeReport, "tokens"> }
  | { readonly type: "state"; readonly state: PanelState }
  | { readonly type: "ladder"; readonly ladder: LadderState }
  | { readonly type: "speed"; readonly speed: SpeedState }
  | { readonly type: "conversation"; readonly conversation: ConversationState }
  | { readonly type: "reveal"; readonly section: PanelSection }
  | WhatIfToPanel;

/** What the page needs to know about the window it lives in. */
export interface PageFacts {
  readonly locale: string;
  /** English template → the reader's language. */
  readonly translations: Readonly<Record<string, string>>;
  readonly trusted: boolean;
}

export type PanelSection = "room" | "memory" | "wait" | "measured" | "ladder" | "conversation";

/** `GaugeState` with the report left out; `revision` names it. */
export type PanelState =
  | { readonly status: "idle" }
  | { readonly status: "counting"; readonly progress: EstimateProgress; readonly revision?: number }
  | { readonly status: "ready"; readonly revision: number; readonly stale: boolean }
  | { readonly status: "failed"; readonly failure: Failure; readonly revision?: number };

/** Panel to host: what the user did. */
export type FromPanel =
  | WhatIfFromPanel
  | { readonly type: "ready" }
  | { readonly type: "command"; readonly command: PanelCommand }
  | { readonly type: "openFile"; readonly path: string }
  /** Files go out of the prompt, or in again. */
  | { readonly type: "leaveOut"; readonly paths: readonly string[]; readonly out: boolean }
  | { readonly type: "packOrder"; readonly order: PackOrder }
  | { readonly type: "planConversation"; readonly input: PlanInput }
  /** A picture or a table goes to a file; `name` is the file's, without extension. */
  | { readonly type: "save"; readonly name: string; readonly files: readonly SavedFile[] };

const panelCommands = [
  "estimateWorkspace",
  "chooseServer",
  "chooseModel",
  "runDepthProbe",
  "refresh",
  "cancel",
  "showLog",
  "copyPackedPrompt",
  "dropToFit",
  "dropToReadInTime",
  "includeAll",
  "manageTrust",
  "createLadderPlan",
  "runLadder",
  "resumeLadder",
  "cancelLadder",
  "showLadder",
  "compareLadders",
  "exportLadderReport",
  "diagnoseLongContext",
  "compareKvCacheTypes",
  "recordBaseline",
  "compareWithBaseline",
  "importMeasurements",
  "changeAssumption",
  "exportHistory",
  "cancelMeasurement",
  "chooseServerLog",
] as const;

export type PanelCommand = (typeof panelCommands)[number];

export function panelStateOf(state: GaugeState): PanelState {
  const revision = reportOf(state)?.revision;
  const named = revision === undefined ? {} : { revision };
  switch (state.status) {
    case "idle":
      return state;
    case "ready":
      return { status: "ready", revision: state.report.revision, stale: state.stale };
    case "counting":
      return { status: "counting", progress: state.progress, ...named };
    case "failed":
      return { status: "failed", failure: state.failure, ...named };
  }
}

/** What came from the page, or undefined where it is none of our messages. */
export function fromPanel(message: unknown): FromPanel | undefined {
  if (typeof message !== "object" || message === null || !("type" in message)) return undefined;
  if (message.type === "ready") return { type: "ready" };
  if (message.type === "command" && "command" in message) {
    const command = panelCommands.find((known) => known === message.command);
    return command && { type: "command", command };
  }
  if (message.type === "openFile" && "path" in message && typeof message.path === "string") {
    return { type: "openFile", path: message.path };
  }
  if (message.type === "leaveOut" && "paths" in message && "out" in message) {
    const { paths, out } = message;
    return areStrings(paths) && typeof out === "boolean" ? { type: "leaveOut", paths, out } : undefined;
  }
  if (message.type === "packOrder" && "order" in message) {
    const order = packOrders.find((known) => known === message.order);
    return order && { type: "packOrder", order };
  }
  if (message.type === "planConversation" && "input" in message) {
    const input = planInput(message.input);
    return input && { type: "planConversation", input };
  }
  if (message.type === "save" && "name" in message && "files" in message) {
    const { name } = message;
    const files = Array.isArray(message.files) ? message.files.map(savedFile) : [];
    const known = files.filter((file) => file !== undefined);
    if (typeof name !== "string" || !/^[\w-]{1,80}$/.test(name)) return undefined;
    return files.length > 0 && known.length === files.length
      ? { type: "save", name, files: known }
      : undefined;
  }
  return whatIfFromPanel(message);
}

function areStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
