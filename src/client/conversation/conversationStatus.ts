import { fillShort, forecastTexts, refusedText } from "../../core/conversation/conversationText";
import type { ShownConversation } from "../../core/conversation/shownConversation";
import { codicon, together } from "../../core/shown";
import type { VerdictSeverity } from "../../core/report/verdict";
import type { Text } from "../../core/text";
import { DisposableStore, type Disposable } from "../editor/lifecycle";
import { StatusItem } from "../editor/screen";
import { localized } from "../editor/vscodeText";
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

/** Nobody goes on with a conversation after so long; milliseconds. */
const forgottenMs = 3_600_000;
/** From here on somebody should think of an end. */
const fewTurns = 2;

/** What the item says of the conversation that was written on last; undefined: there is none, or it is over. */
export function conversationStatus(
  { programs }: ShownConversation,
  now: number,
): { readonly short: Text; readonly long: readonly Text[]; readonly severity: VerdictSeverity } | undefined {
  const [program] = programs;
  const ended = program?.requests.at(-1)?.endedAtMs;
  if (program?.forecast === undefined || ended === undefined || now - ended > forgottenMs) return undefined;
  const { forecast } = program;
  const refused = refusedText(program);
  const left = forecast.turnsLeft?.middle;
  return {
    short: fillShort(forecast),
    long: [...(refused === undefined ? [] : [refused]), ...forecastTexts(forecast)],
    severity: refused !== undefined || (left !== undefined && left <= fewTurns) ? "care" : "good",
  };
}
