import { html, nothing, type TemplateResult } from "lit";
import {
  isResumable,
  shownOf,
  type LadderProgress,
  type LadderState,
  type ShownLadder,
} from "../../core/ladder/report/shownLadder";
import type { CriterionResult } from "../../core/ladder/score/judgeLadder";
import { recommendations, useText } from "../../core/ladder/score/recommend";
import type { RungResult } from "../../core/ladder/score/results";
import type { GaugeReport } from "../../core/report/gaugeReport";
import { count, percent, say, seconds, type Text } from "../../core/text";
import { ladderChart } from "../charts/ladderChart";
import { icon, type IconName } from "./icons";
import {
  certaintyText,
  freeText,
  machineText,
  purposeText,
  readingText,
  troubleText,
  writingText,
} from "../charts/ladderFacts";
import { card, commandButton, dataTable, missing, provenancePill, type Cell } from "./parts";
import type { View } from "../view/view";

/** The acceptance ladder: running, stopped, resumable or done, or how to begin one. */
export function ladderCard(view: View, report: GaugeReport | undefined, width: number): TemplateResult {
  const { ladder: state } = view.model;
  const ladder = shownOf(state);
  const rungs = ladder?.report.rungs ?? [];
  return card(view, {
    id: "ladder",
    wide: true,
    title: say`Ladder`,
    question: say`a verified window, not a promise`,
    pill: rungs.length > 0 ? provenancePill(view, "measured") : undefined,
    twin: rungs.length > 0,
    body: html`${state.status === "running" ? running(view, state.progress) : nothing}
    ${ladder === undefined ? (state.status === "none" ? none(view) : nothing) : shown(view, ladder, state, report)}
    ${
      rungs.length === 0
        ? nothing
        : view.ui.ladder === "picture"
          ? ladderChart(view, rungs, width)
          : html`${rungTable(view, rungs)} ${positionTable(view, rungs)}`
    }
    ${ladder === undefined ? nothing : html`${state.status === "running" ? nothing : criteria(view, ladder)} ${uses(view, ladder, report)}`}`,
  });
}

/** A ladder needs no estimate; without one it stands below what is said then. */
export function idleLadder(view: View): TemplateResult | typeof nothing {
  if (view.model.ladder.status === "none") return nothing;
  return html`<div class="cards">${ladderCard(view, undefined, view.ui.width)}</div>`;
}

function none(view: View): TemplateResult {
  return html`${missing(
      view,
      say`No ladder has been run yet.`,
      say`A ladder asks for facts and rules hidden in longer and longer prompts, and measures recall, speed and memory at each length.`,
      commandButton(view, "createLadderPlan", say`Create ladder plan`),
    )}
    <div class="buttons">
      ${commandButton(view, "diagnoseLongContext", say`Why does my long context fail?`)}
    </div>`;
}

function running(view: View, { steps, tokens, processed, remaining }: LadderProgress): TemplateResult {
  const { words } = view;
  const label = words(say`Run ${count(Math.min(steps.done + 1, steps.planned))} of ${count(steps.planned)}`);
  return html`<div class="notice running" role="status">
    <div>
      <p>${label}: ${words(say`${count(processed)} of ${count(tokens)} token[s] read`)}</p>
      ${
        remaining === undefined
          ? nothing
          : html`<p class="dim">
              ${words(say`${seconds(remaining.likely)} left, between ${seconds(remaining.low)} and ${seconds(remaining.high)}.`)}
            </p>`
      }
      <progress max=${Math.max(1, tokens)} value=${processed} aria-label=${label}></progress>
    </div>
    ${commandButton(view, "cancelLadder", say`Cancel`)}
  </div>`;
}

function shown(
  view: View,
  ladder: ShownLadder,
  state: LadderState,
  report: GaugeReport | undefined,
): TemplateResult {
  const { words } = view;
  const { nextStep, pass } = ladder.report;
  const idle = state.status === "shown";
  const ended = ladder.report.complete || !isResumable(ladder);
  const kind = pass ? "passed" : ended ? "failed" : "open";
  const sign: IconName = pass ? "check" : ended ? "error" : "question";
  return html`<div class="ladder-verdict ${kind}">
    <h3>${icon(sign)} ${words(lead(ladder))}</h3>
    ${idle ? html`<p>${words(nextStep.sentence)}</p>` : nothing}
    ${
      idle
        ? html`<ul class="remedies">
            ${nextStep.actions.map((action) => html`<li>${icon("arrow")}<span>${words(action)}</span></li>`)}
          </ul>`
        : nothing
    }
    <p class="dim about">${words(about(ladder, view.model.page.locale))}</p>
    ${otherModel(ladder, report) ? html`<p class="warning">${words(say`This ladder belongs to another model than the estimate above.`)}</p>` : nothing}
    ${logLines(view, ladder)}
    ${
      idle
        ? html`<div class="buttons">
            ${isResumable(ladder) ? commandButton(view, "resumeLadder", say`Resume`, true) : nothing}
            ${commandButton(view, "runLadder", say`Run ladder`)}
            ${commandButton(view, "exportLadderReport", say`Export report`)}
            ${commandButton(view, "compareLadders", say`Compare`)}
            ${commandButton(view, "showLadder", say`Other ladders`)}
            ${pass ? nothing : commandButton(view, "diagnoseLongContext", say`Why does my long context fail?`)}
          </div>`
        : nothing
    }
  </div>`;
}

function lead(ladder: ShownLadder): Text {
  const { report, steps } = ladder;
  const { targetTokens, nextStep, criteria: declared, rungs } = report;
  const runs = declared.runs;
  const valid = rungs.find(({ tokens }) => tokens === targetTokens)?.validRuns ?? 0;
  if (report.pass) {
    return say`Verified window: ${count(targetTokens)} token[s], ${count(valid)} of ${count(runs)} run[s] passed`;
  }
  if (!report.complete && !isResumable(ladder))
    return say`No window: the base score at ${count(rungs[0]?.tokens ?? 0)} token[s] is too low for this kind of question`;
  const state = report.complete
    ? say`Not verified at ${count(targetTokens)} token[s]`
    : say`Not finished: ${count(steps.done)} of ${count(steps.planned)} run[s]`;
  return nextStep.verifiedTokens === undefined
    ? state
    : say`${state}; sufficient recall to ${count(nextStep.verifiedTokens)} token[s]`;
}

function about({ label, at, report, machine }: ShownLadder, locale: string): Text {
  const time = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }).format(at);
  const model = (report.setup["model"] ?? "").split(/[\\/]/).at(-1) ?? "";
  const build = report.setup["build"] ?? "";
  return say`${label}, started ${time}: ${model} on llama.cpp ${build}, ${machine.cpu}. Criteria ${report.criteria.hash} were declared before the first run.`;
}

function otherModel({ report: { setup } }: ShownLadder, report: GaugeReport | undefined): boolean {
  if (report?.server.known !== true) return false;
  const { model } = report.server.value;
  return setup["model"] !== (model.path ?? model.id);
}

function logLines(view: View, { report }: ShownLadder): TemplateResult | typeof nothing {
  const failure = report.rungs
    .flatMap((rung) => rung.steps)
    .find((step) => step.failure !== undefined)?.failure;
  const log = failure?.log ?? [];
  if (failure === undefined || (log.length === 0 && failure.message === "")) return nothing;
  return html`<details>
    <summary>${view.words(say`What the server reported`)}</summary>
    <pre>${[failure.message, ...log].join("\n")}</pre>
  </details>`;
}

const signs: Readonly<Record<"yes" | "no" | "unknown", readonly [IconName, Text]>> = {
  yes: ["check", say`reached`],
  no: ["error", say`not reached`],
  unknown: ["question", say`unknown`],
};

function criteria(view: View, { report }: ShownLadder): TemplateResult {
  const sign = ({ passed }: CriterionResult): keyof typeof signs =>
    passed === null ? "unknown" : passed ? "yes" : "no";
  return html`<ul class="criteria">
    ${report.results.map((result) => {
      const [name, title] = signs[sign(result)];
      return html`<li class=${sign(result)}>
        ${icon(name)}<span
          ><span class="unseen">${view.words(title)}: </span>${view.words(result.sentence)}</span
        >
      </li>`;
    })}
  </ul>`;
}

function rungTable(view: View, rungs: readonly RungResult[]): TemplateResult {
  const rows = rungs.map((rung): Cell[] => {
    const { recall, worstRun, constraints } = rung;
    return [
      say`${count(rung.tokens)}`,
      purposeText(rung.purpose),
      recall === undefined ? (troubleText(rung) ?? "") : `${recall.correct}/${recall.of}`,
      recall === undefined ? "" : say`${percent(100 * recall.low)} to ${percent(100 * recall.high)}`,
      worstRun === undefined ? "" : `${worstRun.correct}/${worstRun.of}`,
      `${rung.twins}`,
      constraints === undefined ? "" : `${constraints.kept}/${constraints.of}`,
      readingText(rung) ?? "",
      writingText(rung) ?? "",
      certaintyText(rung),
      freeText(rung) ?? "",
      machineText(rung),
    ];
  });
  return dataTable(
    view,
    say`Ladder by length`,
    [
      { title: say`Tokens`, figures: true },
      { title: say`Purpose` },
      { title: say`Recall`, figures: true },
      { title: say`95 % interval`, figures: true },
      { title: say`Worst run`, figures: true },
      { title: say`Twins returned`, figures: true },
      { title: say`Rules kept`, figures: true },
      { title: say`Reading`, figures: true },
      { title: say`Generation`, figures: true },
      { title: say`Log-probability per token`, figures: true },
      { title: say`Least free`, figures: true },
      { title: say`Machine` },
    ],
    rows,
  );
}

function positionTable(view: View, rungs: readonly RungResult[]): TemplateResult {
  const parts = Array.from({ length: 10 }, (_, i) => i);
  return dataTable(
    view,
    say`Recall by position`,
    [
      { title: say`Tokens`, figures: true },
      ...parts.map((i) => ({ title: say`${count(10 * i)} to ${count(10 * i + 10)} %`, figures: true })),
    ],
    rungs.map((rung): Cell[] => [
      say`${count(rung.tokens)}`,
      ...parts.map((i) => {
        const here = rung.byPosition.find(({ depth }) => Math.floor(depth * 10) === i);
        return here === undefined ? "" : `${here.correct}/${here.of}`;
      }),
    ]),
  );
}

/** Reviews and summaries are of what the estimate above is about. */
function uses(
  view: View,
  { limits, report: own }: ShownLadder,
  report: GaugeReport | undefined,
): TemplateResult {
  const disturbed = own.rungs
    .flatMap(({ steps }) => steps)
    .some((s) => s.monitor?.verdict === "contaminated");
  const folder = report && { label: report.scope.label, tokens: report.acceptance.promptTokens };
  return html`<details>
    <summary>${view.words(say`Recommended context for each use`)}</summary>
    ${dataTable(
      view,
      say`Recommended context for each use`,
      [{ title: say`Use` }, { title: say`-c`, figures: true }, { title: say`Why` }],
      recommendations(limits, folder).map(({ use, nCtx, sentence }): Cell[] => [
        useText(use, folder),
        nCtx === undefined ? "–" : say`${count(nCtx)}`,
        sentence,
      ]),
    )}
    ${disturbed ? html`<p class="dim">${view.words(say`Other programs were running during the measurement: a quiet machine reads more in the same time.`)}</p>` : nothing}
  </details>`;
}
