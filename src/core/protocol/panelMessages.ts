import type { GaugeState } from "../report/gaugeState";

/** Host to panel: always the whole truth; the page drops a message with an older `sequence`. */
export type ToPanel = {
  readonly type: "state";
  readonly sequence: number;
  readonly state: GaugeState;
  readonly locale: string;
  /** English template → the reader's language. */
  readonly translations: Readonly<Record<string, string>>;
};

/** Panel to host: what the user did. */
export type FromPanel =
  | { readonly type: "ready" }
  | { readonly type: "command"; readonly command: PanelCommand }
  | { readonly type: "openFile"; readonly path: string };

export type PanelCommand =
  | "estimateWorkspace"
  | "chooseServer"
  | "chooseModel"
  | "refresh"
  | "cancel"
  | "showLog"
  | "copyPackedPrompt";
