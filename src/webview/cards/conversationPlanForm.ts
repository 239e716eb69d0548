import { html, nothing, type TemplateResult } from "lit";
import type { ConversationPlan, PlannedTurn } from "../../core/conversation/plan";
import { mostPlanned, planInput, type PlanInput } from "../../core/protocol/conversationMessages";
import { count, say, seconds, type Text } from "../../core/text";
import type { View } from "../view/view";
import { dataTable, missing, type Cell } from "./parts";

const fields: readonly (readonly [keyof PlanInput, Text, least: number])[] = [
  ["systemTokens", say`System prompt, tokens`, 0],
  ["turnTokens", say`Each turn adds, tokens`, 1],
  ["answerTokens", say`Each answer, tokens`, 0],
  ["turns", say`Turns`, 1],
];

/** A conversation to come: fill and wait of each turn, by the rules of the last estimate's model. */
export function planForm(view: View): TemplateResult {
  const { words, ui } = view;
  const { plan } = view.model.conversation;
  const ask = (event: Event): void => {
    event.preventDefault();
    const form = event.target instanceof Element ? event.target.closest("form") : null;
    const input = planInput(ui.plan);
    // the browser says what is wrong with a figure
    if (form?.reportValidity() === true && input !== undefined)
      view.post({ type: "planConversation", input });
  };
  return html`<details class="plan" ?open=${plan !== undefined}>
    <summary>${words(say`Plan a conversation`)}</summary>
    <form
      class="knobs"
      @submit=${ask}
      @keydown=${(event: KeyboardEvent) => (event.key === "Enter" ? ask(event) : undefined)}
    >
      <div class="row">${fields.map(([key, name, least]) => field(view, key, name, least))}</div>
      <div class="buttons"><vscode-button @click=${ask}>${words(say`Plan`)}</vscode-button></div>
    </form>
    ${
      plan === undefined
        ? nothing
        : plan.known
          ? planned(view, plan.plan)
          : missing(view, plan.reason, undefined)
    }
  </details>`;
}

function field(view: View, key: keyof PlanInput, name: Text, least: number): TemplateResult {
  const most = key === "turns" ? mostPlanned.turns : mostPlanned.tokens;
  const type = (event: Event): void => {
    const { valueAsNumber } = event.target as HTMLInputElement;
    if (!Number.isNaN(valueAsNumber)) view.change({ plan: { ...view.ui.plan, [key]: valueAsNumber } });
  };
  return html`<label class="knob">
    <span>${view.words(name)}</span>
    <input
      type="number"
      required
      min=${least}
      max=${most}
      step="1"
      .value=${String(view.ui.plan[key])}
      @input=${type}
    />
  </label>`;
}

function planned(view: View, plan: ConversationPlan): TemplateResult {
  const { words } = view;
  return html`<p class="answer" role="status">${words(outcomeText(plan))}</p>
    ${plan.lost === undefined ? nothing : html`<p>${words(lostText(plan.lost))}</p>`}
    ${plan.reason === undefined ? nothing : html`<p class="dim">${words(plan.reason)}</p>`}
    ${dataTable(
      view,
      say`Turns`,
      [
        { title: say`Turn`, figures: true },
        { title: say`Prompt`, figures: true },
        { title: say`From cache`, figures: true },
        { title: say`Read`, figures: true },
        { title: say`Wait`, figures: true },
        { title: say`80 % interval`, figures: true },
        { title: say`Answer`, figures: true },
        { title: say`Outcome` },
      ],
      plan.turns.map(row),
    )}`;
}

function outcomeText({ refusedAtTurn, turns, totalSeconds, nCtxPerSlot }: ConversationPlan): Text {
  const end =
    refusedAtTurn === null
      ? say`All ${count(turns.length)} turn[s] fit ${count(nCtxPerSlot)}.`
      : say`Turn ${count(refusedAtTurn)} is refused: the context holds ${count(nCtxPerSlot)}.`;
  return totalSeconds === undefined ? end : say`${end} In all ≈ ${seconds(totalSeconds)}.`;
}

function lostText({ turn, readTokens, extraSeconds }: NonNullable<ConversationPlan["lost"]>): Text {
  return extraSeconds === undefined
    ? say`If the cache is lost before turn ${count(turn)}, ${count(readTokens)} token[s] are read again.`
    : say`If the cache is lost before turn ${count(turn)}, ${count(readTokens)} token[s] are read again: ≈ ${seconds(extraSeconds)} more.`;
}

function row({
  turn,
  promptTokens,
  cachedTokens,
  readTokens,
  waitSeconds,
  lowSeconds,
  highSeconds,
  answerSeconds,
  accepted,
}: PlannedTurn): Cell[] {
  return [
    say`${count(turn)}`,
    say`${count(promptTokens)}`,
    say`${count(cachedTokens)}`,
    say`${count(readTokens)}`,
    waitSeconds === undefined ? "" : say`${seconds(waitSeconds)}`,
    lowSeconds === undefined || highSeconds === undefined
      ? ""
      : say`${seconds(lowSeconds)} – ${seconds(highSeconds)}`,
    answerSeconds === undefined ? "" : say`${seconds(answerSeconds)}`,
    accepted ? say`accepted` : say`refused`,
  ];
}
