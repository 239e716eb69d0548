import { html, nothing, type TemplateResult } from "lit";
import { changeArguments, type LaunchChange } from "../../core/launch/launchChange";
import type { MemoryVerdict } from "../../core/memory/budget/memoryReport";
import type { PrescribedDevice, Prescription } from "../../core/prescription/prescription";
import type { WhatIfAction } from "../../core/protocol/whatIfMessages";
import { bytes, count, say, type Text } from "../../core/text";
import { icon } from "./icons";
import type { View } from "../view/view";
import { leadAndRest } from "../view/words";
import { verdictIcons } from "./verdictHeader";
import { actionNames, tryChange } from "./whatIfControls";

/** What to change about the report, the cheapest first; each can be tried and done with one press. */
export function prescriptionList(view: View): TemplateResult | typeof nothing {
  const { prescriptions } = view.model;
  if (prescriptions === undefined) return nothing;
  const { offered, impossible, actions } = prescriptions;
  if (offered.length + impossible.length === 0) return nothing;
  const { words } = view;
  return html`<section class="prescriptions" aria-labelledby="prescriptions-title">
    <h2 id="prescriptions-title">${words(say`What helps`)}</h2>
    ${
      offered.length === 0
        ? nothing
        : html`<ol>
            ${offered.map((each, i) => item(view, each, actions, i))}
          </ol>`
    }
    ${
      impossible.length === 0
        ? nothing
        : html`<ul class="impossible">
            ${impossible.map(
              ({ change, why }) =>
                html`<li>
                  ${icon("error")}<span>${words(change)} <span class="dim">${words(why)}</span></span>
                </li>`,
            )}
          </ul>`
    }
  </section>`;
}

function item(
  view: View,
  prescription: Prescription,
  actions: readonly WhatIfAction[],
  index: number,
): TemplateResult {
  const { words, model, ui } = view;
  const { change, verdict, devices = [], wait, cost, options, leaveOut } = prescription;
  const [lead, rest] = leadAndRest(verdict.sentence, model.page);
  const title = `prescription-${String(index)}`;
  const tried = options !== undefined && flagsOf(ui.whatIf) === flagsOf(options);
  return html`<li class=${tried ? "tried" : ""}>
    <div role="group" aria-labelledby=${title}>
      <h3 id=${title}>${words(change)}</h3>
      <p class=${verdict.kind}>${icon(verdictIcons[verdict.kind])}<span class="lead">${lead}</span>${rest}</p>
      <p class="dim">
        ${devices.filter(({ totalBytes }) => totalBytes > 0).map((device) => html`<span>${words(deviceText(device))}</span> `)}
        ${wait.known ? nothing : html`<span>${words(say`Wait unknown: ${wait.reason}`)}</span>`}
      </p>
      ${cost.length === 0 ? nothing : html`<p class="dim">${cost.map((each) => html`<span>${words(each)} </span>`)}</p>`}
      <div class="buttons">
        ${options === undefined ? nothing : optionButtons(view, options, actions)}
        ${leaveOut === undefined ? nothing : button(words(say`Leave out ${count(leaveOut.files.length)} file[s]`), () => leave(view, prescription))}
      </div>
    </div>
  </li>`;
}

function optionButtons(
  view: View,
  change: LaunchChange,
  actions: readonly WhatIfAction[],
): readonly TemplateResult[] {
  const { words, post } = view;
  return [
    button(words(say`Try it`), () => tryChange(view, change)),
    ...actions.map((action) =>
      button(words(actionNames[action]), () => post({ type: "whatIfAction", action, change })),
    ),
  ];
}

const button = (name: string, press: () => void): TemplateResult =>
  html`<vscode-button secondary @click=${press}>${name}</vscode-button>`;

function leave({ post }: View, { leaveOut }: Prescription): void {
  const paths = leaveOut?.files.map(({ path }) => path) ?? [];
  post({ type: "leaveOut", paths, out: true });
}

const flagsOf = (change: LaunchChange): string => changeArguments(change).join(" ");

function deviceText({ name, totalBytes, freeBytes, verdict }: PrescribedDevice): Text {
  return freeBytes === undefined || verdict === undefined
    ? say`${name}: ${bytes(totalBytes)}.`
    : say`${name}: ${bytes(totalBytes)} of ${bytes(freeBytes)} free, ${held[verdict]}.`;
}

const held: Record<MemoryVerdict, Text> = {
  fits: say`fits`,
  tight: say`tight`,
  exceeds: say`does not fit`,
  unknown: say`free unknown`,
};
