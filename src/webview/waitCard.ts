import { html, nothing, type TemplateResult } from "lit";
import { predict } from "../core/prefill/predict";
import type { Prediction } from "../core/prefill/prediction";
import type { GaugeReport } from "../core/report/gaugeReport";
import { count, say, seconds } from "../core/text";
import { waitCurve } from "./charts/waitCurve";
import { waitScale } from "./charts/waitScale";
import { card, commandButton, dataTable, missing, provenancePill } from "./parts";
import type { View } from "./view";

export function waitCard(view: View, report: GaugeReport, width: number): TemplateResult {
  const { prefill, curve } = report;
  const shows = prefill.known || curve !== undefined;
  return card(view, {
    id: "wait",
    title: say`Wait`,
    question: say`time to the first token`,
    pill: shows ? provenancePill(view, "measured") : undefined,
    twin: shows,
    body: html`${prefill.known ? nothing : missing(view, prefill.reason, undefined, probeButton(view, report))}
    ${shows ? (view.ui.wait === "picture" ? picture(view, report, width) : waitTable(view, report)) : nothing}
    ${prefill.basis === undefined ? nothing : basis(view, prefill.basis)}`,
  });
}

/** Only a running server can be measured here. */
function probeButton(view: View, { server }: GaugeReport): TemplateResult | typeof nothing {
  return server.known ? commandButton(view, "runDepthProbe", say`Run depth probe`) : nothing;
}

function picture(view: View, report: GaugeReport, width: number): TemplateResult | typeof nothing {
  const { prefill, curve, acceptance } = report;
  if (curve !== undefined) {
    return waitCurve(view, curve, acceptance.promptTokens, furthest(report), width);
  }
  return prefill.known ? waitScale(view, prefill, width) : nothing;
}

/** As far as the context goes or it was measured, and a little beyond the prompt. */
function furthest({ acceptance, prefill }: GaugeReport): number {
  return Math.max(
    1.2 * acceptance.promptTokens,
    prefill.basis?.deepestDepth ?? 0,
    acceptance.nCtxPerSlot ?? 0,
  );
}

function basis(view: View, { points, deepestDepth }: NonNullable<Prediction["basis"]>): TemplateResult {
  return html`<p class="dim">
    ${view.words(say`From ${count(points)} measured points, the deepest at ${count(deepestDepth)} tokens.`)}
  </p>`;
}

function waitTable(view: View, report: GaugeReport): TemplateResult {
  return dataTable(
    view,
    say`Time to the first token`,
    [
      { title: say`Tokens` },
      { title: say`Likely`, figures: true },
      { title: say`Low`, figures: true },
      { title: say`High`, figures: true },
    ],
    waitRows(report).map(([tokens, prediction]) => [
      view.words(say`${count(tokens)}`),
      ...[prediction.seconds, prediction.lowSeconds, prediction.highSeconds].map((value) =>
        view.words(say`${seconds(value)}`),
      ),
    ]),
  );
}

/** The prompt, and powers of two as far as the curve knows. */
function waitRows(
  report: GaugeReport,
): readonly (readonly [tokens: number, Prediction & { readonly known: true }])[] {
  const { prefill, curve, acceptance } = report;
  const own = prefill.known ? [[acceptance.promptTokens, prefill] as const] : [];
  if (curve === undefined) return own;
  const steps: number[] = [];
  for (let tokens = 1024; tokens <= furthest(report); tokens *= 2) steps.push(tokens);
  const others = steps.flatMap((tokens) => {
    const prediction = predict(curve, { tokens });
    return prediction.known ? [[tokens, prediction] as const] : [];
  });
  return [...own, ...others].toSorted(([a], [b]) => a - b);
}
