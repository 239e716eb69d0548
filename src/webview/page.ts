import { html, type TemplateResult } from "lit";
import { reportOf } from "../core/protocol/panelMessages";
import { busyPage, idlePage } from "./idle";
import { memoryCard } from "./memoryCard";
import { notices } from "./notices";
import { roomCard } from "./roomCard";
import { verdictHeader } from "./verdictHeader";
import type { View } from "./view";
import { waitCard } from "./waitCard";

/** Two cards stand side by side from this width on (as in panel.css). */
const twoColumns = 720;
const gap = 16;
const cardPadding = 34;

/** The whole page, a function of what it is given. */
export function page(view: View): TemplateResult {
  const report = reportOf(view.model.state);
  const half =
    view.ui.width >= twoColumns ? (view.ui.width + cardPadding - gap) / 2 - cardPadding : view.ui.width;
  return html`<main>
    ${notices(view)}
    ${
      report === undefined
        ? view.model.state.status === "counting"
          ? busyPage(view)
          : idlePage(view)
        : html`${verdictHeader(view, report)}
            <div class="cards">
              ${roomCard(view, report)} ${memoryCard(view, report, half)} ${waitCard(view, report, half)}
            </div>`
    }
  </main>`;
}
