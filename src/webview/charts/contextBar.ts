import { html, nothing, svg, type TemplateResult } from "lit";
import type { GaugeReport } from "../../core/report/gaugeReport";
import { withinText } from "../../core/report/wait";
import { count, say } from "../../core/text";
import { legend } from "./legend";
import type { View } from "../view/view";
import { contextLayout, contextParts } from "./contextLayout";

const height = 18;
const lineOver = 6;

const patienceSwatch = html`<svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
  <path class="patience" d="M5 0V10" />
</svg>`;

/** The context as a line that the prompt fills; a dashed mark where the user's patience ends. */
export function contextBar(view: View, { acceptance, wait }: GaugeReport): TemplateResult {
  const { width } = view.ui;
  const layout = contextLayout(acceptance, width - 2, wait.within?.tokens);
  const within = withinText(wait);
  const limit = acceptance.nCtxPerSlot;
  const filled =
    limit === null
      ? view.words(say`The prompt has ${count(acceptance.promptTokens)} token[s]; the context is unknown.`)
      : view.words(say`The prompt fills ${count(acceptance.promptTokens)} of ${count(limit)} token[s].`);
  const label = within === undefined ? filled : `${filled} ${view.words(within)}`;
  const total = height + 2 * lineOver;
  const limitX = layout.limitX;
  return html`<figure class="context">
    <svg width=${width} height=${total} viewBox="0 0 ${width} ${total}" role="img" aria-label=${label}>
      <rect class="track" x="0.5" y=${lineOver + 0.5} width=${width - 1} height=${height - 1} rx="3" />
      ${layout.parts.map(
        (part) =>
          svg`<rect class="part ${part.kind}" x=${part.x + 1} y=${lineOver + 1} width=${part.width} height=${height - 2} />`,
      )}
      ${
        limitX === undefined
          ? nothing
          : svg`${
              limitX < width - 3
                ? svg`<rect class="over" x=${limitX} y=${lineOver + 1} width=${width - 1 - limitX} height=${height - 2} />`
                : nothing
            }<path class="limit" d=${`M${Math.min(limitX, width - 1.5)} 0V${total}`} />`
      }
      ${layout.patienceX === undefined ? nothing : svg`<path class="patience" d=${`M${Math.max(1, layout.patienceX)} 0V${total}`} />`}
    </svg>
    <figcaption>
      ${legend(
        contextParts(acceptance).map((part) => ({
          kind: part.kind,
          name: view.words(part.name),
          amount: view.words(say`${count(part.tokens)}`),
        })),
      )}
      <span class="limit-note with-picture"
        >${limit === null ? view.words(say`context per request unknown`) : view.words(say`context per request: ${count(limit)}`)}</span
      >
      ${
        within === undefined
          ? nothing
          : html`<span class="limit-note with-picture"
              >${layout.patienceX === undefined ? nothing : patienceSwatch}${view.words(within)}</span
            >`
      }
    </figcaption>
  </figure>`;
}
