import { html, svg, type TemplateResult } from "lit";
import type { Prediction } from "../../core/prefill/prediction";
import { say, seconds } from "../../core/text";
import type { View } from "../view/view";
import { waitLayout } from "./waitLayout";

/** The wait on a time axis: the band, and the mark of the likely value. */
export function waitScale(
  view: View,
  prediction: Prediction & { known: true },
  width: number,
): TemplateResult {
  const inset = 26;
  const layout = waitLayout(prediction, width - 2 * inset);
  const height = 96;
  const axis = 66;
  const label = view.words(
    say`About ${seconds(prediction.seconds)} to the first token, between ${seconds(prediction.lowSeconds)} and ${seconds(prediction.highSeconds)}.`,
  );
  const mark = inset + layout.mark;
  return html`<svg
    class="wait"
    width=${width}
    height=${height}
    viewBox="0 0 ${width} ${height}"
    role="img"
    aria-label=${label}
  >
    ${layout.ticks.map(
      (tick) => svg`<path class="grid" d=${`M${inset + tick.x} 26V${axis}`} />
        <text class="dim" x=${inset + tick.x} y=${axis + 18} text-anchor="middle">${tick.seconds === 0 ? 0 : view.words(say`${seconds(tick.seconds)}`)}</text>`,
    )}
    <path class="axis" d=${`M${inset} ${axis}H${width - inset}`} />
    <rect
      class="band"
      x=${inset + layout.low}
      y="38"
      width=${Math.max(2, layout.high - layout.low)}
      height="18"
      rx="3"
    />
    <path class="mark" d=${`M${mark} 30V${axis}`} />
    <circle class="mark" cx=${mark} cy="47" r="5" />
    <text x=${Math.min(Math.max(mark, inset + 30), width - inset - 30)} y="18" text-anchor="middle">
      ${view.words(say`this prompt: ${seconds(prediction.seconds)}`)}
    </text>
  </svg>`;
}
