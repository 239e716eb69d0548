import type { FromPanel, ToPanel } from "../../core/protocol/panelMessages";
import type { Disposable } from "../editor/lifecycle";

/** Something that has its place on the panel's page, and of which the panel knows nothing else. */
export interface PanelPart {
  /** What the page shows of it now. */
  readonly message: ToPanel;
  /** Fires when that has changed. */
  readonly onDidChange: (listener: () => void) => Disposable;
  /** A page is there: what is only read to be shown may be read now. */
  pageOpened(): Promise<void>;
  /** Something was done on the page that only a part knows what to do with. */
  receive?(action: FromPanel): void;
}
