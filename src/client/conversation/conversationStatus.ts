import { codicon, together } from "../../core/shown";
import { DisposableStore, type Disposable } from "../editor/lifecycle";
import { StatusItem } from "../editor/screen";
import { localized } from "../editor/vscodeText";
import { conversationStatus } from "./conversationStatusView";
import type { ConversationWatch } from "./conversationWatch";

/** An item of its own, there while a conversation is known that may go on. */
export class ConversationStatus implements Disposable {
  private readonly store = new DisposableStore();
  private readonly item = this.store.add(
    new StatusItem("llamaGauge.conversation", 18, "Llama Gauge: Conversation", "llamaGauge.showConversation"),
  );

  constructor(watch: Pick<ConversationWatch, "onDidChange">, now: () => number) {
    this.store.add(
      watch.onDidChange((shown) => {
        const status = conversationStatus(shown, now());
        if (status === undefined) {
          this.item.hide();
          return;
        }
        const long = together(status.long.map(localized), " ");
        const icon = codicon(status.severity === "good" ? "comment-discussion" : "warning");
        const text = together([icon, localized(status.short)], " ");
        this.item.show({ text, tooltip: long, label: long, severity: status.severity });
      }),
    );
  }

  dispose(): void {
    this.store.dispose();
  }
}
