import { scaleLinear } from "d3-scale";
import { html, nothing, svg, type TemplateResult } from "lit";
import type { AcceptanceReport } from "../../core/acceptance/acceptanceReport";
import { count, say, type Text } from "../../core/text";
import { legend } from "../parts";
import type { View } from "../view";

export interface ContextPart {
  readonly kind: "files" | "packing" | "template" | "reserve";
  readonly name: Text;
  readonly tokens: number;
}

export interface ContextLayout {
  readonly parts: readonly (ContextPart & { readonly x: number; readonly width: number })[];
  /** Where one request's context ends; undefined where nobody knows. */
  readonly limitX: number | undefined;
}

export function contextParts({ parts, answerReserve }: AcceptanceReport): readonly ContextPart[] {
  return [
    { kind: "files", name: say`files`, tokens: parts.files },
    { kind: "packing", name: say`packing`, tokens: parts.packing },
    { kind: "template", name: say`chat template`, tokens: parts.template },
    { kind: "reserve", name: say`kept for the answer`, tokens: answerReserve },
  ];
}

/** The parts one after the other; the scale holds the context or, where the prompt is larger, the whole prompt. */
export function contextLayout(acceptance: AcceptanceReport, width: number): ContextLayout {
  const parts = contextParts(acceptance).map((part) => ({ ...part, tokens: Math.max(0, part.tokens) }));
  const sum = parts.reduce((total, part) => total + part.tokens, 0);
  const limit = acceptance.nCtxPerSlot ?? undefined;
  const x = scaleLinear([0, Math.max(1, sum, limit ?? sum * 1.15)], [0, width]);
  let start = 0;
  return {
    parts: parts.map((part) => {
      const placed = { ...part, x: x(start), width: x(part.tokens) };
      start += part.tokens;
      return placed;
    }),
    limitX: limit === undefined ? undefined : x(limit),
  };
}

const height = 18;
const lineOver = 6;

/** The context as a line that the prompt fills. */
export function contextBar(view: View, acceptance: AcceptanceReport): TemplateResult {
  const { width } = view.ui;
  const layout = contextLayout(acceptance, width - 2);
  const limit = acceptance.nCtxPerSlot;
  const label =
    limit === null
      ? view.words(say`The prompt has ${count(acceptance.promptTokens)} tokens; the context is not known.`)
      : view.words(say`The prompt fills ${count(acceptance.promptTokens)} of ${count(limit)} tokens.`);
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
    </svg>
    <figcaption>
      ${legend(
        contextParts(acceptance).map((part) => ({
          kind: part.kind,
          name: view.words(part.name),
          amount: view.words(say`${count(part.tokens)}`),
        })),
      )}
      <span class="limit-note"
        >${limit === null ? view.words(say`context of one request not known`) : view.words(say`context of one request: ${count(limit)}`)}</span
      >
    </figcaption>
  </figure>`;
}
