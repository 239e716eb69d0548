import { html, nothing, type TemplateResult } from "lit";
import { measurementProgressText } from "../../core/bench/probeReport";
import type { RunningMeasurement } from "../../core/report/speedState";
import type { DepthCurve } from "../../core/prefill/depthCurve";
import { livePrefillText } from "../../core/prefill/livePrefill";
import { naiveSeconds } from "../../core/prefill/depthCurve";
import { predict } from "../../core/prefill/predict";
import type { Prediction } from "../../core/prefill/prediction";
import type { GaugeReport } from "../../core/report/gaugeReport";
import { assumedText } from "../../core/history/assumption";
import { totalText, withinText } from "../../core/report/wait";
import { oddityText, predictionText, secondQuestionText } from "../../core/prefill/predictionText";
import { count, percent, say, seconds } from "../../core/text";
import { waitCurve } from "../charts/waitCurve";
import { waitScale } from "../charts/waitScale";
import { card, commandButton, dataTable, missing, provenancePill } from "./parts";
import type { View } from "../view/view";
import { waitStrip } from "./waitStrip";

export function waitCard(view: View, report: GaugeReport, width: number): TemplateResult {
  const { prefill, curve, origin, second } = report;
  const { running, live } = view.model.speed;
  const total = totalText(report.wait);
  const within = withinText(report.wait);
  const shows = prefill.known || curve !== undefined;
  return card(view, {
    id: "wait",
    wide: true,
    title: say`Wait`,
    question: say`time to the first token`,
    pill: shows ? provenancePill(view, "measured") : undefined,
    twin: shows,
    body: html`${running === undefined ? nothing : measuring(view, running)}
    ${live === undefined ? nothing : html`<p class="live" role="status">${view.words(livePrefillText(live))}</p>`}
    ${prefill.known ? verdictLine(view, report) : running === undefined ? missing(view, prefill.reason, undefined, probeButton(view, report)) : nothing}
    ${shows ? (view.ui.wait === "picture" ? picture(view, report, width) : waitTable(view, report)) : nothing}
    ${within === undefined ? nothing : html`<p>${view.words(within)}</p>`}
    ${total === undefined ? nothing : html`<p>${view.words(total)}</p>`}
    ${second === undefined ? nothing : html`<p>${view.words(secondQuestionText(second))}</p>`}
    ${prefill.basis === undefined ? nothing : basis(view, report, prefill.basis)}
    ${origin === undefined ? nothing : waitStrip(view, origin, width)}`,
  });
}

/** "≈ 6.6 min (5.8 – 8.1), probed to 32,768 tokens 3 days ago; then 15 t/s". */
function verdictLine(view: View, { prefill, origin, createdAt }: GaugeReport): TemplateResult {
  const age = origin && (createdAt - origin.measuredAt) / 1000;
  return html`<p class="answer">${view.words(predictionText(prefill, age))}</p>`;
}

/** A measurement that runs now: what it costs, how far it is, and the way out. */
function measuring(view: View, { title, plan, progress }: RunningMeasurement): TemplateResult {
  const { words } = view;
  return html`<div class="notice measuring" role="status">
    <div>
      <p>
        ${words(title)}
        ${progress === undefined ? nothing : html`<b>${words(measurementProgressText(progress))}</b>`}
      </p>
      ${plan === undefined ? nothing : html`<p class="dim">${words(plan)}</p>`}
      ${
        progress === undefined || progress.share <= 0
          ? html`<progress aria-label=${words(say`Working`)}></progress>`
          : html`<progress
              max="1"
              value=${progress.share}
              aria-label=${words(say`Part of the expected time`)}
            ></progress>`
      }
    </div>
    ${commandButton(view, "cancelMeasurement", say`Stop`)}
  </div>`;
}

/** A running server is measured as it is; without one llama-bench measures the chosen model. */
function probeButton(view: View, { server, model }: GaugeReport): TemplateResult | typeof nothing {
  return server.known || model.known ? commandButton(view, "runDepthProbe", say`Run depth probe`) : nothing;
}

function picture(view: View, report: GaugeReport, width: number): TemplateResult | typeof nothing {
  const { prefill, curve, acceptance } = report;
  if (curve !== undefined) {
    return html`${waitCurve(view, curve, acceptance.promptTokens, report.wait, furthest(report), width)}
    ${naiveLine(view, curve, acceptance.promptTokens)}`;
  }
  return prefill.known ? waitScale(view, prefill, width) : nothing;
}

/** What dividing by the speed of a short prompt would have said; drawn dashed. */
function naiveLine(view: View, curve: DepthCurve, tokens: number): TemplateResult {
  const naive = naiveSeconds(curve, tokens);
  return html`<p class="dim">
    ${view.words(say`Dashed: the time if the speed of the first tokens lasted, here ${seconds(naive)}.`)}
  </p>`;
}

/** As far as the context goes or it was measured, and a little beyond the prompt. */
function furthest({ acceptance, prefill }: GaugeReport): number {
  return Math.max(
    1.2 * acceptance.promptTokens,
    prefill.basis?.deepestDepth ?? 0,
    acceptance.nCtxPerSlot ?? 0,
  );
}

function basis(
  view: View,
  { origin, prefill }: GaugeReport,
  { points, deepestDepth }: NonNullable<Prediction["basis"]>,
): TemplateResult {
  const { words } = view;
  const learned =
    origin === undefined || origin.requests === 0
      ? nothing
      : words(
          say`${count(origin.requests)} request[s] observed since then set today's speed: ${percent(Math.abs(100 * (origin.factor - 1)))} ${origin.factor >= 1 ? say`slower` : say`faster`} than measured.`,
        );
  const days =
    origin?.days === undefined
      ? nothing
      : words(
          say`How much it differs from day to day is learned from ${count(origin.days)} day[s]: ${percent(100 * (origin.daySpread ?? 0))}.`,
        );
  const dated =
    origin?.dated === undefined
      ? nothing
      : words(
          say`The import has no date of its own; that of its file is shown, and the interval is that of another day.`,
        );
  const assumed =
    origin?.assumed === undefined
      ? nothing
      : html`${words(assumedText({ missing: origin.assumed, use: true }))}
        ${commandButton(view, "changeAssumption", say`Change`)}`;
  const oddity = oddityText(prefill);
  const otherBuild =
    origin === undefined || origin.sameBuild || origin.requests > 0
      ? nothing
      : words(say`It was measured with another build of llama.cpp, so the interval is wider.`);
  return html`<p class="dim">
    ${words(say`From ${count(points)} measured point[s], the deepest at ${count(deepestDepth)} token[s].`)}
    ${learned} ${days} ${dated} ${assumed} ${otherBuild} ${oddity === undefined ? nothing : words(oddity)}
  </p>`;
}

function waitTable(view: View, report: GaugeReport): TemplateResult {
  const patience = inTime(report);
  return dataTable(
    view,
    say`Time to the first token`,
    [
      { title: say`Tokens` },
      { title: say`Likely`, figures: true },
      { title: say`Low`, figures: true },
      { title: say`High`, figures: true },
      { title: say`If the initial speed lasted`, figures: true },
    ],
    waitRows(report).map(([tokens, prediction]) => [
      view.words(tokens === patience ? say`${count(tokens)} (your patience)` : say`${count(tokens)}`),
      ...[prediction.seconds, prediction.lowSeconds, prediction.highSeconds].map((value) =>
        view.words(say`${seconds(value)}`),
      ),
      report.curve === undefined ? "–" : view.words(say`${seconds(naiveSeconds(report.curve, tokens))}`),
    ]),
  );
}

/** Tokens that are read within the user's patience, where the curve tells. */
const inTime = ({ wait: { within } }: GaugeReport): number | undefined =>
  within === undefined || within.atLeast || within.tokens < 1 ? undefined : within.tokens;

/** The prompt, what patience is enough for, and powers of two as far as the curve knows. */
function waitRows(
  report: GaugeReport,
): readonly (readonly [tokens: number, Prediction & { readonly known: true }])[] {
  const { prefill, curve, acceptance } = report;
  const own = prefill.known ? [[acceptance.promptTokens, prefill] as const] : [];
  if (curve === undefined) return own;
  const steps: number[] = [];
  for (let tokens = 1024; tokens <= furthest(report); tokens *= 2) steps.push(tokens);
  const patience = inTime(report);
  const more = patience === undefined || patience === acceptance.promptTokens ? [] : [patience];
  const others = [...steps.filter((tokens) => tokens !== patience), ...more].flatMap((tokens) => {
    const prediction = predict(curve, { tokens });
    return prediction.known ? [[tokens, prediction] as const] : [];
  });
  return [...own, ...others].toSorted(([a], [b]) => a - b);
}
