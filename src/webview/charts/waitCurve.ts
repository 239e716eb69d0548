import { html, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";
import type { DepthCurve } from "../../core/prefill/depthCurve";
import { count, say, seconds } from "../../core/text";
import type { Wait } from "../../core/report/wait";
import type { View } from "../view/view";
import { anchor, below, left, plotWidth } from "./curveFrame";
import { curveLayout, type CurveMark } from "./curveLayout";
import { textWidth } from "./labels";

const above = 18;
const boxHeight = 190;

/** Time to the first token by length of the prompt: likely, band, where it was measured, this prompt, and the patience. */
export function waitCurve(
  view: View,
  curve: DepthCurve,
  prompt: number,
  { within, patienceSeconds }: Pick<Wait, "within" | "patienceSeconds">,
  furthest: number,
  width: number,
): TemplateResult {
  const box = { width: plotWidth(width), height: boxHeight };
  const layout = curveLayout(
    curve,
    prompt,
    furthest,
    box,
    within?.atLeast === true ? undefined : within?.tokens,
  );
  const height = above + boxHeight + below;
  const label = view.words(say`Time to the first token by prompt length; the table lists it.`);
  const time = (value: number): string => (value === 0 ? "0" : view.words(say`${seconds(value)}`));
  return html`<svg
    class="wait"
    width=${width}
    height=${height}
    viewBox="0 0 ${width} ${height}"
    role="img"
    aria-label=${label}
  >
    <g transform="translate(${left} ${above})">
      ${layout.secondTicks.map(
        ({ at, value }) => svg`<path class="grid" d=${`M0 ${at}H${box.width}`} />
          <text class="dim" x="-8" y=${at + 4} text-anchor="end">${time(value)}</text>`,
      )}
      ${layout.tokenTicks.map(
        ({ at, value }) =>
          svg`<text class="dim" x=${at} y=${boxHeight + 18} text-anchor=${anchor(at, box.width)}>${view.words(say`${count(value)}`)}</text>`,
      )}
      <path class="band" d=${layout.band} />
      <path class="naive" d=${layout.naive}>
        <title>${view.words(say`if the speed of the first tokens lasted`)}</title>
      </path>
      <path class="likely" d=${layout.line} />
      ${layout.measured.map((mark) => svg`<circle class="measured" cx=${mark.x} cy=${mark.y} r="3.5"><title>${describe(view, mark)}</title></circle>`)}
      ${layout.patience === undefined || patienceSeconds === undefined ? nothing : patienceMark(view, layout.patience, patienceSeconds, box.width)}
      ${layout.prompt === undefined ? nothing : promptMark(view, layout.prompt, box.width)}
    </g>
  </svg>`;
}

function promptMark(view: View, mark: CurveMark, width: number): SVGTemplateResult {
  const text = view.words(say`this prompt: ${seconds(mark.seconds)}`);
  // the line rises to the right, so there is room on the left
  const beside = mark.x - 10 >= textWidth(text);
  const x = beside ? mark.x - 10 : Math.min(mark.x, width - textWidth(text));
  return svg`<path class="prompt" d=${`M${mark.x} ${boxHeight}V${mark.y}`} />
    <circle class="prompt" cx=${mark.x} cy=${mark.y} r="5" />
    <text class="halo" x=${x} y=${Math.max(4, mark.y - 10)} text-anchor=${beside ? "end" : "start"}>${text}</text>`;
}

/** Time and tokens, from axis to axis. */
function patienceMark(view: View, mark: CurveMark, patience: number, width: number): SVGTemplateResult {
  const text = view.words(say`in ${seconds(patience)}: ${count(mark.tokens)} token[s]`);
  // under the line there is room on the right
  const beside = mark.x + 8 + textWidth(text) <= width;
  return svg`<path class="patience" d=${`M0 ${mark.y}H${mark.x}V${boxHeight}`} />
    <text class="halo" x=${beside ? mark.x + 8 : Math.max(textWidth(text), mark.x - 8)} y=${boxHeight - 8} text-anchor=${beside ? "start" : "end"}>${text}</text>`;
}

const describe = (view: View, mark: CurveMark): string =>
  view.words(say`${count(mark.tokens)} token[s]: ${seconds(mark.seconds)}`);
