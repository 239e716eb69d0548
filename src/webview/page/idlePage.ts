import { html, type TemplateResult } from "lit";
import { say, type Text } from "../../core/text";
import { icon, type IconName } from "../cards/icons";
import { commandButton } from "../cards/parts";
import type { View } from "../view/view";

const questions: readonly (readonly [IconName, Text, Text])[] = [
  [
    "room",
    say`Does it fit?`,
    say`Exact tokens in your model's vocabulary, compared with what one request may hold.`,
  ],
  ["memory", say`Is there enough memory?`, say`Weights, KV cache and compute buffers, by device.`],
  ["wait", say`How long will I wait?`, say`Time to the first token, from measurements on this machine.`],
];

/** Before the first estimate: what this is for and the one next step. */
export function idlePage(view: View): TemplateResult {
  const { words } = view;
  return html`<section class="idle">
    <h1>${words(say`What will it cost to send this?`)}</h1>
    <p class="dim">
      ${words(say`Right-click files or folders in the Explorer and choose “Estimate Context Cost”.`)}
    </p>
    <div class="buttons">
      ${commandButton(view, "estimateWorkspace", say`Estimate workspace`, true)}
      ${commandButton(view, "chooseServer", say`Choose server`)}
      ${commandButton(view, "chooseModel", say`Choose model`)}
    </div>
    ${questionList(view)}
  </section>`;
}

/** While the first estimate is made: what is about to be answered. */
export function busyPage(view: View): TemplateResult {
  return html`<section class="idle busy">
    <h1>${view.words(say`Answers arrive within moments`)}</h1>
    ${questionList(view)}
  </section>`;
}

function questionList({ words }: View): TemplateResult {
  return html`<ul class="questions">
    ${questions.map(
      ([name, question, answer]) =>
        html`<li>
          ${icon(name)}
          <h2>${words(question)}</h2>
          <p class="dim">${words(answer)}</p>
        </li>`,
    )}
  </ul>`;
}
