import { html, type TemplateResult } from "lit";
import type { Prediction } from "../core/prefill/prediction";
import type { GaugeReport } from "../core/report/gaugeReport";
import { count, say, seconds } from "../core/text";
import { waitScale } from "./charts/waitScale";
import { card, dataTable, missing, provenancePill } from "./parts";
import type { View } from "./view";

export function waitCard(view: View, { prefill }: GaugeReport, width: number): TemplateResult {
  return card(view, {
    id: "wait",
    title: say`Wait`,
    question: say`time to the first token`,
    pill: prefill.known ? provenancePill(view, "measured") : undefined,
    twin: prefill.known,
    body: prefill.known ? known(view, prefill, width) : missing(view, prefill.reason, undefined),
  });
}

function known(view: View, prediction: Prediction & { known: true }, width: number): TemplateResult {
  const { words } = view;
  return html`${view.ui.wait === "picture" ? waitScale(view, prediction, width) : waitTable(view, prediction)}
    <p class="dim">
      ${words(
        say`From ${count(prediction.basis.points)} measured points, the deepest at ${count(prediction.basis.deepestDepth)} tokens.`,
      )}
    </p>`;
}

function waitTable(view: View, prediction: Prediction & { known: true }): TemplateResult {
  const time = (value: number): string => view.words(say`${seconds(value)}`);
  return dataTable(
    view,
    say`Time to the first token`,
    [{ title: say`Likely` }, { title: say`Low`, figures: true }, { title: say`High`, figures: true }],
    [[time(prediction.seconds), time(prediction.lowSeconds), time(prediction.highSeconds)]],
  );
}
