import { html, type TemplateResult } from "lit";
import { reportOf } from "../../core/report/gaugeState";
import { busyPage, idlePage } from "./idlePage";
import { idleLadder, ladderCard } from "../cards/ladderCard";
import { conversationCard, idleConversation } from "../cards/conversationCard";
import { memoryCard } from "../cards/memoryCard";
import { measuredCard } from "../cards/measuredCard";
import { notices } from "../cards/notices";
import { prescriptionList } from "../cards/prescriptionList";
import { roomCard } from "../cards/roomCard";
import { verdictHeader } from "../cards/verdictHeader";
import type { View } from "../view/view";
import { waitCard } from "../cards/waitCard";
import { whatIfNotice } from "../cards/whatIfControls";

/** The whole page, a function of what it is given. */
export function page(view: View): TemplateResult {
  const report = view.model.whatIf?.report ?? reportOf(view.model.state);
  return html`<main>
    ${notices(view)} ${whatIfNotice(view)}
    ${
      report === undefined
        ? view.model.state.status === "counting"
          ? busyPage(view)
          : html`${idlePage(view)} ${idleConversation(view)} ${idleLadder(view)}`
        : html`${verdictHeader(view, report)} ${prescriptionList(view)}
            <div class="cards">
              ${roomCard(view, report)} ${memoryCard(view, report, view.ui.width)}
              ${waitCard(view, report, view.ui.width)} ${conversationCard(view, view.ui.width)}
              ${measuredCard(view, report, view.ui.width)} ${ladderCard(view, report, view.ui.width)}
            </div>`
    }
  </main>`;
}
