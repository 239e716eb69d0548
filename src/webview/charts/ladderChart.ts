import { html, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";
import type { RungResult } from "../../core/ladder/score/results";
import { count, say } from "../../core/text";
import type { Text } from "../../core/text";
import {
  freeText,
  machineText,
  purposeText,
  readingText,
  recallShare,
  troubleText,
  writingText,
} from "./ladderFacts";
import type { View } from "../view/view";
import { ladderColumns, positionBars, shareOfLargest, type LadderColumns } from "./ladderLayout";
import { shorten } from "./labels";

const head = 34;
const barHeight = 26;
const wideRow = 46;
const narrowRow = 64;

/** Rung by rung: recall along the prompt, recall with its interval, reading, writing, memory, and what else ran. */
export function ladderChart(view: View, rungs: readonly RungResult[], width: number): TemplateResult {
  const columns = ladderColumns(width);
  const row = columns.wide ? wideRow : narrowRow;
  const height = head + rungs.length * row;
  const label = view.words(say`Recall, speed and memory by prompt length; the table lists it.`);
  return html`<svg
    class="ladder"
    width=${width}
    height=${height}
    viewBox="0 0 ${width} ${height}"
    role="img"
    aria-label=${label}
  >
    ${heads(view, columns)}
    ${rungs.map((rung, i) => svg`<g transform="translate(0 ${head + i * row})">${rungRow(view, rung, rungs, columns, width)}</g>`)}
  </svg>`;
}

function heads(view: View, columns: LadderColumns): SVGTemplateResult {
  const { positions, recall, read, write, free, machine, wide } = columns;
  const title = (x: number, width: number, text: Text): SVGTemplateResult =>
    svg`<text class="dim" x=${x} y="12">${shorten(view.words(text), width + 14)}</text>`;
  return svg`${title(0, 70, say`Tokens`)}
    ${title(positions.x, positions.width, say`Recall by position`)}
    <text class="dim" x=${positions.x} y="26">${view.words(say`start`)}</text>
    <text class="dim" x=${positions.x + positions.width} y="26" text-anchor="end">${view.words(say`end`)}</text>
    ${title(recall.x, recall.width, say`Recall, 95 % interval`)}
    ${
      wide
        ? svg`${title(read.x, read.width, say`Reading`)} ${title(write.x, write.width, say`Generation`)}
          ${title(free.x, free.width, say`Least free`)} ${title(machine.x, machine.width, say`Machine`)}`
        : nothing
    }`;
}

function rungRow(
  view: View,
  rung: RungResult,
  all: readonly RungResult[],
  columns: LadderColumns,
  width: number,
): SVGTemplateResult {
  const { positions, recall, wide } = columns;
  const trouble = troubleText(rung);
  return svg`<path class="grid" d=${`M0 -4H${width}`} />
    <text x="0" y="13">${view.words(say`${count(rung.tokens)}`)}</text>
    <text class="dim" x="0" y="27">${view.words(purposeText(rung.purpose))}</text>
    ${
      rung.recall === undefined
        ? svg`<text class="trouble" x=${positions.x} y="18">${shorten(view.words(trouble ?? say`no recall measured`), width - positions.x)}</text>`
        : svg`${bars(view, rung, positions)} ${interval(rung, recall)}`
    }
    ${wide ? figures(view, rung, all, columns) : below(view, rung, positions.x, width)}`;
}

function bars(
  view: View,
  rung: RungResult,
  column: { readonly x: number; readonly width: number },
): SVGTemplateResult {
  return svg`${positionBars(rung, column.width).map(({ x, width, share }, i) => {
    const part = view.words(say`${count(10 * i)} to ${count(10 * i + 10)} % of the prompt`);
    return share === undefined
      ? svg`<rect class="asked-not" x=${column.x + x} y=${barHeight - 1} width=${width} height="1"><title>${part}</title></rect>`
      : svg`<rect class="track" x=${column.x + x} y="0" width=${width} height=${barHeight} />
          <rect class=${share < 0.85 ? "share low" : "share"} x=${column.x + x} y=${barHeight * (1 - share)} width=${width} height=${Math.max(share === 0 ? 0 : 1, barHeight * share)}><title>${part}: ${view.words(recallShare(share))}</title></rect>`;
  })}`;
}

function interval(
  { recall }: RungResult,
  { x, width }: { readonly x: number; readonly width: number },
): SVGTemplateResult | typeof nothing {
  if (recall === undefined) return nothing;
  const line = Math.max(30, width - 62);
  const at = (share: number): number => x + line * share;
  const share = recall.correct / recall.of;
  return svg`<path class="axis" d=${`M${x} 13H${x + line}`} />
    <path class="whisker" d=${`M${at(recall.low)} 8V18M${at(recall.low)} 13H${at(recall.high)}M${at(recall.high)} 8V18`} />
    <circle class=${share < 0.85 ? "dot low" : "dot"} cx=${at(share)} cy="13" r="4.5" />
    <text x=${x + line + 10} y="17">${recall.correct}/${recall.of}</text>`;
}

function figures(
  view: View,
  rung: RungResult,
  all: readonly RungResult[],
  { read, write, free, machine }: LadderColumns,
): SVGTemplateResult {
  const cell = (
    column: { readonly x: number; readonly width: number },
    text: Text | undefined,
    share: number,
  ): SVGTemplateResult =>
    svg`${share > 0 ? svg`<rect class="meter" x=${column.x} y="19" width=${Math.max(1, column.width * share)} height="5" rx="1" />` : nothing}
      <text x=${column.x} y="13">${text === undefined ? "–" : shorten(view.words(text), column.width + 14)}</text>`;
  const seconds = all.map(({ prefillSeconds }) => prefillSeconds);
  const speeds = all.map(({ generationTokensPerSecond }) => generationTokensPerSecond);
  return svg`${cell(read, readingText(rung), shareOfLargest(rung.prefillSeconds, seconds))}
    ${cell(write, writingText(rung), shareOfLargest(rung.generationTokensPerSecond, speeds))}
    ${cell(free, freeText(rung), 0)} ${cell(machine, machineText(rung), 0)}`;
}

/** Where there is no room for columns the same figures are one line. */
function below(view: View, rung: RungResult, x: number, width: number): SVGTemplateResult {
  const texts = [readingText(rung), writingText(rung), freeText(rung), machineText(rung)];
  const line = texts.flatMap((text) => (text === undefined ? [] : [view.words(text)])).join(" · ");
  return svg`<text class="dim" x=${x} y="44">${shorten(line, width - x)}</text>`;
}
