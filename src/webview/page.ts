import { html, type TemplateResult } from "lit";
import { reportOf } from "../core/protocol/panelMessages";
import { busyPage, idlePage } from "./idle";
import { idleLadder, ladderCard } from "./ladderCard";
import { memoryCard } from "./memoryCard";
import { measuredCard } from "./measuredCard";
import { notices } from "./notices";
import { roomCard } from "./roomCard";
import { verdictHeader } from "./verdictHeader";
import type { View } from "./view";
import { waitCard } from "./waitCard";
import { whatIfNotice } from "./whatIf";

/** The whole page, a function of what it is given. */
export function page(view: View): TemplateResult {
  const report = view.model.whatIf?.report ?? reportOf(view.model.state);
  return html`<main>
    ${notices(view)} ${whatIfNotice(view)}
    ${
      report === undefined
        ? view.model.state.status === "counting"
          ? busyPage(view)
          : html`${idlePage(view)} ${idleLadder(view)}`
        : html`${verdictHeader(view, report)}
            <div class="cards">
              ${roomCard(view, report)} ${memoryCard(view, report, view.ui.width)}
              ${waitCard(view, report, view.ui.width)} ${measuredCard(view, report, view.ui.width)}
              ${ladderCard(view, report, view.ui.width)}
            </div>`
    }
  </main>`;
}
