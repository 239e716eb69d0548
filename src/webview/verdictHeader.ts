import { html, nothing, type TemplateResult } from "lit";
import type { GaugeReport, VerdictKind } from "../core/report/gaugeReport";
import { visibleName } from "../core/report/visibleName";
import { count, percent, say, seconds, tokensPerSecond, type Text } from "../core/text";
import { isExact } from "../core/tokens/tokenCount";
import { icon, type IconName } from "./icons";
import { commandButton, provenancePill } from "./parts";
import type { View } from "./view";
import { leadAndRest } from "./words";

const icons: Record<VerdictKind, IconName> = {
  fits: "check",
  tight: "warning",
  exceedsContext: "error",
  exceedsMemory: "error",
  unknown: "question",
};

/** The answer in one sentence, what it is about, and what to do next. */
export function verdictHeader(view: View, report: GaugeReport): TemplateResult {
  const { words } = view;
  const { verdict, acceptance } = report;
  const [lead, rest] = leadAndRest(verdict.sentence, view.model.page);
  const { files, packing, template } = acceptance.parts;
  return html`<header class="verdict ${verdict.kind}">
    <div class="answer">
      <p class="eyebrow">${subject(view, report)}</p>
      <h1>${icon(icons[verdict.kind])}<span class="lead">${lead}</span>${rest}</h1>
      <p class="dim">
        ${words(
          say`Prompt ${count(acceptance.promptTokens)} = files ${count(files)} + packing ${count(packing)} + chat template ${count(template)}.`,
        )}
        ${verdict.reasons.map((reason) => html`<span>${words(reason)} </span>`)}
      </p>
      ${
        verdict.remedies.length === 0
          ? nothing
          : html`<ul class="remedies">
              ${verdict.remedies.map((remedy) => html`<li>${icon("arrow")}${words(remedy)}</li>`)}
            </ul>`
      }
      <div class="buttons">${buttons(view, report)}</div>
    </div>
    ${facts(view, report)}
  </header>`;
}

function buttons(view: View, report: GaugeReport): readonly TemplateResult[] {
  const noServer = !report.server.known;
  return [
    ...(noServer ? [commandButton(view, "chooseServer", say`Choose server`, true)] : []),
    ...(report.model.known ? [] : [commandButton(view, "chooseModel", say`Choose model`, !noServer)]),
    commandButton(view, "copyPackedPrompt", say`Copy packed prompt`),
    commandButton(view, "refresh", say`Refresh`),
  ];
}

function subject(view: View, report: GaugeReport): TemplateResult {
  const { words } = view;
  const { tokenizer } = report.tokens;
  const names: string[] = [
    visibleName(report.scope.label),
    words(report.tokens.files.length === 1 ? say`1 file` : say`${count(report.tokens.files.length)} files`),
  ];
  if (report.server.known) names.push(`llama-server ${new URL(report.server.value.url).host}`);
  const model = report.model.known ? report.model.value : undefined;
  if (model !== undefined) names.push([model.name, model.quantisation].filter(Boolean).join(" "));
  return html`${names.map((name, i) => html`${i === 0 ? nothing : html`<i aria-hidden="true"> · </i>`}<span>${name}</span>`)}
  ${
    isExact(tokenizer)
      ? html`<span class="pill reported" title=${words(say`counted with the model's own vocabulary`)}
          >${words(say`exact tokens`)}</span
        >`
      : html`<span class="pill assumed" title=${words(say`counted without the model's vocabulary`)}
          >${words(estimate(tokenizer.relativeError))}</span
        >`
  }
  ${model === undefined ? nothing : provenancePill(view, model.provenance)}`;
}

const estimate = (relativeError: number | undefined): Text =>
  relativeError === undefined
    ? say`estimated tokens`
    : say`estimated tokens ± ${percent(100 * relativeError)}`;

function facts(view: View, report: GaugeReport): TemplateResult {
  const { acceptance, prefill } = report;
  const dash = "–";
  const { words } = view;
  const rows: (readonly [Text, string, string])[] = [
    [
      say`room for the answer`,
      acceptance.answerRoom === null ? dash : words(say`${count(acceptance.answerRoom)}`),
      acceptance.answerRoom === null
        ? words(say`context not known`)
        : words(say`${count(acceptance.answerReserve)} wanted`),
    ],
    [
      say`first token`,
      prefill.known ? words(say`${seconds(prefill.seconds)}`) : dash,
      prefill.known
        ? words(say`${seconds(prefill.lowSeconds)} – ${seconds(prefill.highSeconds)}`)
        : words(say`not measured yet`),
    ],
    [
      say`then`,
      prefill.known && prefill.generationTokensPerSecond !== undefined
        ? words(say`${tokensPerSecond(prefill.generationTokensPerSecond)}`)
        : dash,
      prefill.known && prefill.generationTokensPerSecond !== undefined
        ? words(say`at depth ${count(acceptance.promptTokens)}`)
        : words(say`not measured yet`),
    ],
  ];
  return html`<dl class="facts">
    ${rows.map(
      ([name, value, note]) =>
        html`<div>
          <dt>${words(name)}</dt>
          <dd><b>${value}</b><span class="dim">${note}</span></dd>
        </div>`,
    )}
  </dl>`;
}
