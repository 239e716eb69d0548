import { html, nothing, svg, type TemplateResult } from "lit";
import type { DepthCurve } from "../../core/prefill/depthCurve";
import { count, say } from "../../core/text";
import type { View } from "../view/view";
import { milliseconds } from "../view/words";
import { costLayout, type CostKind } from "./curveCostLayout";
import { anchor, below, left, plotWidth } from "./curveFrame";

const above = 12;
const boxHeight = 110;

/** Milliseconds per token by depth: what was measured, and the line the predictions use. */
export function costCurve(
  view: View,
  curve: DepthCurve,
  kind: CostKind,
  furthest: number,
  width: number,
): TemplateResult | undefined {
  const box = { width: plotWidth(width), height: boxHeight };
  const layout = costLayout(curve, kind, furthest, box);
  if (layout === undefined) return undefined;
  const { words } = view;
  const label = words(
    kind === "prefill"
      ? say`Milliseconds per prompt token by depth; the table lists them.`
      : say`Milliseconds per generated token by depth; the table lists them.`,
  );
  const height = above + boxHeight + below;
  return html`<svg
    class="wait cost ${kind}"
    width=${width}
    height=${height}
    viewBox="0 0 ${width} ${height}"
    role="img"
    aria-label=${label}
  >
    <g transform="translate(${left} ${above})">
      ${layout.costTicks.map(
        ({ at, value }) => svg`<path class="grid" d=${`M0 ${at}H${box.width}`} />
          <text class="dim" x="-8" y=${at + 4} text-anchor="end">${value === 0 ? "0" : milliseconds(view, value / 1000)}</text>`,
      )}
      ${layout.depthTicks.map(
        ({ at, value }) =>
          svg`<text class="dim" x=${at} y=${boxHeight + 18} text-anchor=${anchor(at, box.width)}>${words(say`${count(value)}`)}</text>`,
      )}
      ${layout.band === undefined ? nothing : svg`<path class="band" d=${layout.band} />`}
      <path class="likely" d=${layout.line} />
      ${layout.measured.map(
        (mark) =>
          svg`<circle class="measured" cx=${mark.x} cy=${mark.y} r="2.5"><title>${words(say`depth ${count(mark.depth)}: ${milliseconds(view, mark.secondsPerToken)} per token`)}</title></circle>`,
      )}
    </g>
  </svg>`;
}
