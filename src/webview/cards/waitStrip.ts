import { html, nothing, svg, type TemplateResult } from "lit";
import { foreignUseTexts } from "../../core/monitor/foreignUse";
import { eventText } from "../../core/monitor/interference";
import type { CurveOrigin } from "../../core/history/curveChoice";
import type { MonitorEvent, MonitorVerdict } from "../../core/monitor/monitorSample";
import { count, percent, say, type Text } from "../../core/text";
import type { View } from "../view/view";
import { largest } from "../../core/lists";

const verdicts: Readonly<Record<MonitorVerdict, readonly [name: Text, why: Text]>> = {
  clean: [say`clean`, say`nothing else was running while it was measured`],
  drift: [say`drift`, say`the machine itself changed while it was measured`],
  contaminated: [say`contaminated`, say`other programs were running while it was measured`],
  unmonitored: [say`unmonitored`, say`the machine was not monitored while it was measured`],
};

/** What the watch says about a measurement. */
export function verdictPill({ words }: View, verdict: MonitorVerdict): TemplateResult {
  const [name, why] = verdicts[verdict];
  return html`<span class="pill watch ${verdict}" title=${words(why)}>${words(name)}</span>`;
}

/** The machine while the curve was measured: the time as a strip with what disturbed it, and the same in words. */
export function waitStrip(view: View, origin: CurveOrigin, width: number): TemplateResult {
  const { words } = view;
  const { monitor, drift, steps = [], seconds: took } = origin;
  const events = monitor?.events ?? [];
  const verdict = monitor?.verdict ?? "unmonitored";
  const [, why] = verdicts[verdict];
  return html`<div class="watch">
    <p>${words(say`Machine`)} ${verdictPill(view, verdict)} <span class="dim">${words(why)}</span></p>
    ${monitor === undefined ? nothing : foreignUseTexts(monitor).map((text) => html`<p class="dim">${words(text)}</p>`)}
    ${monitor === undefined || took === undefined ? nothing : strip(view, events, took, width)}
    ${
      events.length === 0
        ? nothing
        : html`<ul>
            ${events.slice(0, 6).map((event) => html`<li>${words(eventText(event))}</li>`)}
          </ul>`
    }
    ${drift === undefined || drift.kind === "stable" ? nothing : html`<p class="dim">${words(say`The same first tokens took ${percent(100 * Math.abs(drift.change))} ${drift.change > 0 ? say`longer` : say`less`} at the end, so the interval is wider.`)}</p>`}
    ${steps.map(({ depth, ratio, kind }) => html`<p class="dim">${words(kind === "knee" ? say`From ${count(depth)} token[s] on, a token costs ${percent(100 * (ratio - 1))} more than the line before predicts, and it stayed that way.` : say`At ${count(depth)} token[s] the cost jumped by ${percent(100 * (ratio - 1))} and came back: something else was running.`)}</p>`)}
  </div>`;
}

const bar = 10;

/** The list says the same. */
function strip(
  { words }: View,
  events: readonly MonitorEvent[],
  took: number,
  width: number,
): TemplateResult {
  const end = largest(
    events.map((event) => event.toSeconds),
    Math.max(took, 1),
  );
  const at = (time: number): number => (width * Math.min(end, Math.max(0, time))) / end;
  return html`<svg
    class="strip"
    width=${width}
    height=${bar}
    viewBox="0 0 ${width} ${bar}"
    aria-hidden="true"
  >
    <rect class="track" width=${width} height=${bar} rx="3" />
    ${events.map(
      (event) => svg`<rect
          class="event ${event.kind}"
          x=${at(event.fromSeconds)}
          width=${Math.max(3, at(event.toSeconds) - at(event.fromSeconds))}
          height=${bar}
        ><title>${words(eventText(event))}</title></rect>`,
    )}
  </svg>`;
}
