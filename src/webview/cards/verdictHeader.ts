import { html, nothing, type TemplateResult } from "lit";
import type { GaugeReport, VerdictKind } from "../../core/report/gaugeReport";
import { otherRemedies } from "../../core/report/verdict";
import { visibleName } from "../../core/visibleName";
import { generationText } from "../../core/prefill/predictionText";
import { count, percent, say, seconds, type Text } from "../../core/text";
import { isExact } from "../../core/tokens/tokenCount";
import { icon, type IconName } from "./icons";
import { commandButton, provenancePill } from "./parts";
import type { View } from "../view/view";
import { leadAndRest } from "../view/words";
import { modelName, templateName } from "../../core/report/names";

export const verdictIcons: Record<VerdictKind, IconName> = {
  fits: "check",
  slow: "wait",
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
    <div class="sentence">
      <p class="eyebrow">${subject(view, report)}</p>
      <h1>${icon(verdictIcons[verdict.kind])}<span class="lead">${lead}</span>${rest}</h1>
    </div>
    <div class="details">
      <p class="dim">
        ${words(
          say`Prompt ${count(acceptance.promptTokens)} = files ${count(files)} + packing ${count(packing)} + chat template ${count(template)}.`,
        )}
        ${
          // the server's own needs no word
          report.template === undefined || report.template.from === "server"
            ? nothing
            : html`<span>${words(say`Chat template: ${templateName(report.template)}.`)} </span>`
        }
        ${verdict.reasons.map((reason) => html`<span>${words(reason)} </span>`)}
      </p>
      ${steps(view, report)}
      <div class="buttons">${buttons(view, report)}</div>
    </div>
    ${facts(view, report)}
  </header>`;
}

/** What keeps the answer from being complete, each with its way out; then the verdict's other advice. */
function steps({ words, model }: View, { server, verdict }: GaugeReport): TemplateResult | typeof nothing {
  const missing = server.known ? [] : [{ why: server.why, remedy: server.remedy }];
  const said = new Set(missing.map(({ remedy }) => words(remedy)));
  const concrete = (model.prescriptions?.offered.length ?? 0) > 0;
  const others = otherRemedies(verdict, concrete)
    .map((remedy) => words(remedy))
    .filter((remedy) => !said.has(remedy));
  if (missing.length + others.length === 0) return nothing;
  return html`<ul class="remedies">
    ${missing.map(
      ({ why, remedy }) =>
        html`<li>
          ${icon("warning")}<span>${words(why)} <span class="dim">${words(remedy)}</span></span>
        </li>`,
    )}
    ${others.map((remedy) => html`<li>${icon("arrow")}<span>${remedy}</span></li>`)}
  </ul>`;
}

function buttons(view: View, report: GaugeReport): readonly TemplateResult[] {
  const noServer = !report.server.known;
  return [
    ...(report.otherModel === undefined
      ? []
      : [
          commandButton(view, "chooseServer", say`Choose server`, true),
          commandButton(view, "chooseModel", say`Choose model`),
        ]),
    ...(noServer ? [commandButton(view, "chooseServer", say`Choose server`, true)] : []),
    ...(report.model.known ? [] : [commandButton(view, "chooseModel", say`Choose model`, !noServer)]),
    commandButton(view, "copyPackedPrompt", say`Copy packed prompt`),
    commandButton(view, "refresh", say`Refresh`),
  ];
}

/** Scope · files · server · model, each with where it comes from. */
function subject(view: View, report: GaugeReport): TemplateResult {
  const { words } = view;
  const { files } = report.tokens;
  const items = [
    html`<span>${visibleName(report.scope.label)}</span>`,
    html`<span>${words(say`${count(files.length)} file[s]`)}</span>${tokenizerPill(view, report)}`,
  ];
  if (report.server.known) {
    items.push(html`<span>llama-server ${new URL(report.server.value.url).host}</span>`);
  }
  if (report.model.known) {
    items.push(
      html`<span>${visibleName(modelName(report.model.value))}</span
        >${provenancePill(view, report.model.value.provenance)}`,
    );
  }
  return html`${items.map((item, i) => html`${i === 0 ? nothing : html`<i aria-hidden="true">·</i>`}${item}`)}`;
}

function tokenizerPill({ words }: View, { tokens: { tokenizer } }: GaugeReport): TemplateResult {
  if (isExact(tokenizer)) {
    const how =
      tokenizer.checkedWith === undefined
        ? say`counted with the model's own vocabulary`
        : say`counted with the model's own vocabulary; the server returned the same tokens for a test text`;
    return html`<span class="pill reported" title=${words(how)}>${words(say`exact tokens`)}</span>`;
  }
  const name =
    tokenizer.relativeError === undefined
      ? say`estimated tokens`
      : say`estimated tokens ± ${percent(100 * tokenizer.relativeError)}`;
  return html`<span class="pill assumed" title=${words(say`counted without the model's vocabulary`)}
    >${words(name)}</span
  >`;
}

type Fact = readonly [name: Text, value: Text, note: Text];

/** The figures that are known, large. */
function facts({ words }: View, report: GaugeReport): TemplateResult {
  return html`<dl class="facts">
    ${knownFacts(report).map(
      ([name, value, note]) =>
        html`<div>
          <dt>${words(name)}</dt>
          <dd><b>${words(value)}</b><span class="dim">${words(note)}</span></dd>
        </div>`,
    )}
  </dl>`;
}

function knownFacts({ acceptance, prefill, wait }: GaugeReport): readonly Fact[] {
  const rows: Fact[] = [];
  if (acceptance.answerRoom !== null) {
    const { answerRoom, answerReserve } = acceptance;
    rows.push([say`room for the answer`, say`${count(answerRoom)}`, say`${count(answerReserve)} reserved`]);
  }
  if (!prefill.known) return rows;
  const { lowSeconds, highSeconds } = prefill;
  const generation = generationText(prefill);
  rows.push([
    say`first token`,
    say`${seconds(prefill.seconds)}`,
    say`${seconds(lowSeconds)} – ${seconds(highSeconds)}`,
  ]);
  if (generation !== undefined) {
    rows.push([say`then`, generation, say`at depth ${count(acceptance.promptTokens)}`]);
  }
  const { answer, total } = wait;
  if (answer !== undefined && total !== undefined) {
    rows.push([
      say`in all`,
      say`${seconds(total.seconds)}`,
      say`with ${count(answer.tokens)} token[s] of answer in ${seconds(answer.seconds)}`,
    ]);
  }
  return rows;
}
