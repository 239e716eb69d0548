import { html, nothing, type TemplateResult } from "lit";
import { rereadText } from "../../core/conversation/causeText";
import {
  causeCostText,
  forecastTexts,
  refusedText,
  sourceText,
} from "../../core/conversation/conversationText";
import type { ShownProgram, ShownRequest, ShownRunning } from "../../core/conversation/shownConversation";
import type { RequestOutcome } from "../../core/conversation/requestRecord";
import { livePrefillText } from "../../core/prefill/livePrefill";
import { shownValue } from "../../core/shown";
import { count, say, seconds, tokensPerSecond, type Text } from "../../core/text";
import { conversationChart } from "../charts/conversationChart";
import type { View } from "../view/view";
import { planForm } from "./conversationPlanForm";
import { icon } from "./icons";
import { card, commandButton, dataTable, missing, provenancePill, type Cell } from "./parts";

/** The requests of the server in use: what they cost, how full the context is, and what is to come. */
export function conversationCard(view: View, width: number): TemplateResult {
  const { shown } = view.model.conversation;
  const program = shown.programs.find(({ name = "" }) => name === view.ui.program) ?? shown.programs[0];
  const { source, problem } = shown;
  return card(view, {
    id: "conversation",
    wide: true,
    title: say`Conversation`,
    question: say`what each turn costs, and when it will be refused`,
    pill: program === undefined ? undefined : provenancePill(view, "reported"),
    twin: program !== undefined,
    body: html`${problem === undefined ? nothing : missing(view, problem.problem, problem.remedy)}
    ${program === undefined ? (problem === undefined ? nothingYet(view) : nothing) : filled(view, program, width)}
    ${
      source === undefined
        ? nothing
        : html`<p class="dim source">
            ${view.words(sourceText(source))} ${commandButton(view, "chooseServerLog", say`Choose log`)}
          </p>`
    }
    ${unknownLines(view)} ${planForm(view)}`,
  });
}

/** Requests are of interest without an estimate, too. */
export function idleConversation(view: View): TemplateResult | typeof nothing {
  const { source, programs } = view.model.conversation.shown;
  if (source === undefined || (source.kind !== "chosenLog" && programs.length === 0)) return nothing;
  return html`<div class="cards">${conversationCard(view, view.ui.width)}</div>`;
}

function nothingYet(view: View): TemplateResult {
  const { source } = view.model.conversation.shown;
  return missing(
    view,
    source === undefined ? say`No log of a llama-server was found.` : say`There have been no requests yet.`,
    source === undefined
      ? say`Start the server here or with --log-file, or choose its log. Without a log, requests are shown from /slots after an estimate.`
      : undefined,
    source === undefined ? commandButton(view, "chooseServerLog", say`Choose log`) : nothing,
  );
}

function unknownLines(view: View): TemplateResult | typeof nothing {
  const { lines, example = "" } = view.model.conversation.shown.unknown;
  if (lines === 0) return nothing;
  return html`<p class="dim">
    ${view.words(say`${count(lines)} line[s] [is|are] worded in a way this version does not know, for example: ${example}`)}
  </p>`;
}

function filled(view: View, program: ShownProgram, width: number): TemplateResult {
  const { words } = view;
  const { forecast, running, requests } = program;
  const refused = refusedText(program);
  return html`${programChoice(view, program)}
  ${program.mixed === true ? html`<p class="warning">${words(say`Several servers write into this log at once, so their requests cannot be told apart. Give each its own --log-file.`)}</p>` : nothing}
  ${refused === undefined ? nothing : html`<p class="answer refused">${icon("error")} ${words(refused)}</p>`}
  ${forecast === undefined ? nothing : html`<p class="answer">${forecastTexts(forecast).map((text) => html`${words(text)} `)}</p>`}
  ${running.map((its) => runningLine(view, its))}
  ${
    requests.length === 0 && running.length === 0
      ? nothing
      : view.ui.conversation === "picture"
        ? conversationChart(view, program, width)
        : requestTable(view, program)
  }
  ${causes(view, program)}`;
}

/** Several programs may write into one log. */
function programChoice(view: View, { name }: ShownProgram): TemplateResult | typeof nothing {
  const { programs } = view.model.conversation.shown;
  if (programs.length < 2) return nothing;
  const choose = (event: Event): void => view.change({ program: (event.target as HTMLSelectElement).value });
  return html`<label class="knob">
    <span>${view.words(say`Server`)}</span>
    <select @change=${choose}>
      ${programs.map((its) => html`<option value=${its.name ?? ""} ?selected=${its.name === name}>${labelOf(its)}</option>`)}
    </select>
  </label>`;
}

const labelOf = ({ name, model }: ShownProgram): string =>
  shownValue([name, model].filter((part) => part !== undefined).join(" · ") || "–", 200);

/** How far a request is, with a bar that moves. */
function runningLine(view: View, { live, generatedTokens }: ShownRunning): TemplateResult {
  const { words } = view;
  const text =
    live === undefined
      ? say`The server is answering: ${count(generatedTokens ?? 0)} token[s] so far.`
      : livePrefillText(live);
  const label = words(say`Part of the prompt that has been read`);
  return html`<div class="notice running">
    <div>
      <p>${words(text)}</p>
      ${
        live?.total === undefined
          ? html`<progress aria-label=${words(say`Working`)}></progress>`
          : html`<progress
              max=${Math.max(1, live.total)}
              value=${live.processed}
              aria-label=${label}
            ></progress>`
      }
    </div>
  </div>`;
}

function causes(view: View, { causes: costs }: ShownProgram): TemplateResult | typeof nothing {
  if (costs.length === 0) return nothing;
  const { words } = view;
  return html`<h3>${words(say`Read again, and why`)}</h3>
    <ul class="remedies causes">
      ${costs.map((its) => {
        const { cost, cause, remedy } = causeCostText(its);
        return html`<li>
          ${icon("arrow")}<span>${words(cause)} <b>${words(cost)}</b> ${words(remedy)}</span>
        </li>`;
      })}
    </ul>`;
}

const outcomes: Readonly<Record<RequestOutcome, Text>> = {
  done: say`answered`,
  cut: say`cut by the context`,
  refused: say`refused`,
  cancelled: say`cancelled`,
  failed: say`failed`,
  running: say`running`,
  ended: say`ended`,
};

const known = (value: number | undefined): Cell => (value === undefined ? "" : say`${count(value)}`);
const time = (value: number | undefined): Cell => (value === undefined ? "" : say`${seconds(value)}`);
const speed = (tokens: number | undefined, took: number | undefined): Cell =>
  tokens === undefined || took === undefined || took <= 0 ? "" : say`${tokensPerSecond(tokens / took)}`;

function requestTable(view: View, { requests, running }: ShownProgram): TemplateResult {
  const clock = new Intl.DateTimeFormat(view.model.page.locale, { dateStyle: "short", timeStyle: "medium" });
  const when = ({ endedAtMs }: ShownRequest): string =>
    endedAtMs === undefined ? "" : clock.format(endedAtMs);
  const rows = requests.map((request): Cell[] => [
    say`${count(request.number)}`,
    when(request),
    String(request.slot),
    known(request.promptTokens),
    known(request.cachedTokens),
    known(request.againTokens),
    known(request.newTokens),
    time(request.prefillSeconds),
    speed(request.readTokens, request.prefillSeconds),
    known(request.generatedTokens),
    time(request.generationSeconds),
    speed(request.generatedTokens, request.generationSeconds),
    known(request.fillTokens),
    known(request.limit),
    outcomes[request.outcome],
    request.reread === undefined ? "" : rereadText(request.reread).cause,
  ]);
  const now = running.map(({ slot, live, promptTokens, cachedTokens, generatedTokens, limit }): Cell[] => [
    say`now`,
    "",
    String(slot),
    live?.total === undefined ? known(promptTokens?.low) : say`${count(live.total)}`,
    known(cachedTokens),
    ...["", "", time(live?.elapsedSeconds), ""],
    known(generatedTokens),
    ...["", "", ""],
    known(limit),
    outcomes.running,
    "",
  ]);
  return dataTable(
    view,
    say`Requests`,
    [
      { title: say`Request`, figures: true },
      { title: say`Ended` },
      { title: say`Slot`, figures: true },
      { title: say`Prompt`, figures: true },
      { title: say`From cache`, figures: true },
      { title: say`Read again`, figures: true },
      { title: say`New`, figures: true },
      { title: say`Wait`, figures: true },
      { title: say`Prefill`, figures: true },
      { title: say`Generated`, figures: true },
      { title: say`Time`, figures: true },
      { title: say`Generation`, figures: true },
      { title: say`Fill`, figures: true },
      { title: say`Context`, figures: true },
      { title: say`Outcome` },
      { title: say`Why it was read again` },
    ],
    [...now, ...rows.toReversed()],
  );
}
