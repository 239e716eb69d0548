import { html, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";
import type { ShownProgram, ShownRequest, ShownRunning } from "../../core/conversation/shownConversation";
import { livePrefillText } from "../../core/prefill/livePrefill";
import { count, say, seconds, type Text } from "../../core/text";
import type { View } from "../view/view";
import {
  conversationLayout,
  conversationPartNames,
  conversationParts,
  partsOf,
  type ConversationBar,
} from "./conversationLayout";
import { left, plotWidth } from "./curveFrame";
import { textWidth } from "./labels";
import { legend } from "./legend";

const above = 18;
const tokensHeight = 170;
const gap = 24;
const timeHeight = 46;
const height = above + tokensHeight + gap + timeHeight + 8;

/** One bar for each request against the context, and below how long it took. */
export function conversationChart(view: View, program: ShownProgram, width: number): TemplateResult {
  const { words } = view;
  const box = { width: plotWidth(width), tokensHeight, timeHeight };
  const layout = conversationLayout(program, box);
  const tokens = (value: number): string => words(say`${count(value)}`);
  const label = words(say`Tokens and time of each request; the table lists them.`);
  return html`<svg
      class="conversation"
      width=${width}
      height=${height}
      viewBox="0 0 ${width} ${height}"
      role="img"
      aria-label=${label}
    >
      <g transform="translate(${left} ${above})">
        ${layout.tokenTicks.map(
          ({ at, value }) => svg`<path class="grid" d=${`M0 ${at}H${box.width}`} />
            <text class="dim" x="-8" y=${at + 4} text-anchor="end">${tokens(value)}</text>`,
        )}
        ${layout.bars.map((bar) => tokenBar(view, bar))}
        ${layout.limitY === undefined || program.limit === undefined ? nothing : limitLine(view, layout.limitY, program.limit, box.width)}
        ${layout.numberTicks.map(
          ({ at, value }) =>
            svg`<text class="dim" x=${at} y=${tokensHeight + 15} text-anchor="middle">${tokens(value)}</text>`,
        )}
      </g>
      <g transform="translate(${left} ${above + tokensHeight + gap})">
        ${layout.timeTicks.map(
          ({ at, value }) => svg`<path class="grid" d=${`M0 ${at}H${box.width}`} />
            <text class="dim" x="-8" y=${at + 4} text-anchor="end">${value === 0 ? "0" : words(say`${seconds(value)}`)}</text>`,
        )}
        ${layout.bars.map((bar) => timeBar(view, bar))}
      </g>
    </svg>
    ${legend(legendOf(view, program))}`;
}

function legendOf(
  { words }: View,
  { requests, running }: ShownProgram,
): readonly { readonly kind: string; readonly name: string; readonly amount: string }[] {
  const all = [...requests, ...running].map(partsOf);
  return conversationParts.flatMap((kind) => {
    const sum = all.reduce((total, parts) => total + (parts[kind] ?? 0), 0);
    if (sum === 0) return [];
    return [{ kind, name: words(conversationPartNames[kind]), amount: words(say`${count(sum)}`) }];
  });
}

function limitLine({ words }: View, y: number, limit: number, width: number): SVGTemplateResult {
  const text = words(say`context ${count(limit)}`);
  return svg`<path class="limit" d=${`M0 ${y}H${width}`} />
    <text class="halo" x=${Math.max(0, width - textWidth(text))} y=${y - 5}>${text}</text>`;
}

function tokenBar(view: View, { x, width, tokens, outline, of }: ConversationBar): SVGTemplateResult {
  const runs = !("outcome" in of);
  return svg`<g class=${runs ? "request running" : "request"}>
    <title>${view.words(requestText(of))}</title>
    ${outline === undefined ? nothing : svg`<rect class="outline" x=${x} y=${outline.y} width=${width} height=${outline.height} />`}
    ${tokens.map((part) => svg`<rect class="part ${part.kind}" x=${x} y=${part.y} width=${width} height=${part.height} />`)}
  </g>`;
}

function timeBar(view: View, { x, width, times, of }: ConversationBar): SVGTemplateResult {
  return svg`<g class="request">
    <title>${view.words(requestText(of))}</title>
    ${times.map(({ kind, y, height: tall }) => svg`<rect class="part ${kind}" x=${x} y=${y} width=${width} height=${tall} />`)}
  </g>`;
}

/** What a bar says when it is pointed at. */
function requestText(request: ShownRequest | ShownRunning): Text {
  if (!("outcome" in request)) {
    return request.live === undefined
      ? say`Running: ${count(request.generatedTokens ?? 0)} token[s] generated so far.`
      : livePrefillText(request.live);
  }
  const { number, outcome, promptTokens, cachedTokens, againTokens, prefillSeconds, generatedTokens } =
    request;
  const prompt = promptTokens === undefined ? say`length unknown` : say`${count(promptTokens)} token[s]`;
  if (outcome === "refused") return say`Request ${count(number)}: refused, ${prompt}`;
  const parts: Text[] = [
    ...(cachedTokens === undefined ? [] : [say`${count(cachedTokens)} from cache`]),
    ...(againTokens === undefined || againTokens === 0 ? [] : [say`${count(againTokens)} read again`]),
    ...(generatedTokens === undefined ? [] : [say`${count(generatedTokens)} generated`]),
    ...(prefillSeconds === undefined ? [] : [say`wait ${seconds(prefillSeconds)}`]),
  ];
  return parts.reduce((text, part) => say`${text}, ${part}`, say`Request ${count(number)}: ${prompt}`);
}
