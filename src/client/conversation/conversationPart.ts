import { planConversation } from "../../core/conversation/plan";
import { promptKeeping } from "../../core/prefill/secondQuestion";
import type {
  ConversationState,
  PlanInput,
  PlannedConversation,
} from "../../core/protocol/conversationMessages";
import type { FromPanel, ToPanel } from "../../core/protocol/panelMessages";
import type { Estimated } from "../../core/report/situation";
import { say } from "../../core/text";
import { Emitter, type Disposable } from "../editor/lifecycle";
import type { Gauge } from "../estimate/gauge";
import type { PanelPart } from "../panel/panelPart";
import type { ConversationWatch } from "./conversationWatch";

/** The card "Conversation": what was and is sent, and what is planned. */
export class ConversationPart implements PanelPart, Disposable {
  private readonly changes = new Emitter<void>();
  private readonly watching: Disposable;
  private plan: PlannedConversation | undefined;

  readonly onDidChange = this.changes.event;

  constructor(
    private readonly watch: Pick<ConversationWatch, "value" | "onDidChange" | "update">,
    private readonly gauge: Pick<Gauge, "shown">,
  ) {
    this.watching = watch.onDidChange(() => this.changes.fire());
  }

  get message(): ToPanel {
    const conversation: ConversationState = {
      shown: this.watch.value,
      ...(this.plan !== undefined && { plan: this.plan }),
    };
    return { type: "conversation", conversation };
  }

  pageOpened(): Promise<void> {
    this.watch.update();
    return Promise.resolve();
  }

  receive(action: FromPanel): void {
    if (action.type !== "planConversation") return;
    this.plan = planned(action.input, this.gauge.shown);
    this.changes.fire();
  }

  dispose(): void {
    this.watching.dispose();
    this.changes.dispose();
  }
}

/** By the rules of the model and server of the last estimate. */
export function planned(input: PlanInput, shown: Estimated | undefined): PlannedConversation {
  const model = shown?.situation.model;
  const limit = shown?.report.acceptance.nCtxPerSlot ?? null;
  if (shown === undefined || model?.known !== true || limit === null) {
    return {
      ...{ known: false, input },
      reason: say`A conversation is planned for the model and context of the last estimate; nothing has been estimated with a known model yet.`,
    };
  }
  const { launch } = shown.situation;
  const { curve } = shown.report;
  const plan = planConversation({
    ...input,
    thinkingTokens: 0,
    limit,
    keeping: promptKeeping(model.value, launch),
    kept: launch.cachePrompt !== false,
    ...(curve !== undefined && { curve }),
  });
  return { known: true, input, plan };
}
