import { html, nothing, type TemplateResult } from "lit";
import {
  changeFields,
  changeFlags,
  changeArguments,
  flashChoices,
  type ChangeField,
  type LaunchChange,
} from "../../core/launch/launchChange";
import { cacheTypes } from "../../core/model/ggmlTypes";
import type { WhatIfAction } from "../../core/protocol/whatIfMessages";
import type { GaugeReport } from "../../core/report/gaugeReport";
import type { TryableOptions, LayerRange } from "../../core/report/tryableOptions";
import { bytes, count, say, seconds, type Text } from "../../core/text";
import type { View } from "../view/view";

/** Controls to try other launch options on a report; nothing outside the page changes. */
export function whatIfControls(view: View, report: GaugeReport): TemplateResult | typeof nothing {
  const { knobs } = report;
  if (knobs === undefined) return nothing;
  const { words } = view;
  const tried = view.ui.whatIf;
  return html`<fieldset class="knobs">
    <legend>${words(say`What if`)}</legend>
    ${contextKnob(view, knobs, tried)}
    <div class="row">
      ${choiceKnob(view, knobs, "cacheTypeK", [...cacheTypes.keys()], say`KV type of K`)}
      ${choiceKnob(view, knobs, "cacheTypeV", [...cacheTypes.keys()], say`KV type of V`)}
      ${choiceKnob(view, knobs, "parallel", slotChoices(knobs), say`slots`)}
      ${choiceKnob(view, knobs, "ubatchSize", knobs.ubatches.map(String), say`ubatch`)}
      ${choiceKnob(view, knobs, "flashAttn", flashChoices, say`flash attention`)}
      ${knobs.gpuLayers === undefined ? nothing : layerKnob(view, "gpuLayers", knobs.gpuLayers, say`layers on the GPU`)}
      ${knobs.nCpuMoe === undefined ? nothing : layerKnob(view, "nCpuMoe", knobs.nCpuMoe, say`layers with experts on the CPU`)}
    </div>
    ${result(view)}
  </fieldset>`;
}

/** Says on top of everything that it is tried, not how it is; with what can be done about it. */
export function whatIfNotice(view: View): TemplateResult | typeof nothing {
  const { whatIf } = view.model;
  if (whatIf === undefined) return nothing;
  const { words, post } = view;
  const flags = changeArguments(whatIf.change);
  const running = whatIf.report.server.known;
  return html`<div class="notice what-if" role="status">
    <div>
      <p>${words(say`What if: ${flags.join(" ")}`)}</p>
      <p class="dim">
        ${words(
          running
            ? say`Nothing has been changed. The running server uses other options; acceptance, memory and wait below show what these options would give.`
            : say`Nothing has been changed. Acceptance, memory and wait below show what these options would give.`,
        )}
      </p>
    </div>
    ${whatIf.actions.map(
      (action) =>
        html`<vscode-button secondary @click=${() => post({ type: "whatIfAction", action })}
          >${words(actionNames[action])}</vscode-button
        >`,
    )}
    <vscode-button @click=${() => tryChange(view, {})}>${words(say`Reset`)}</vscode-button>
  </div>`;
}

export const actionNames: Record<WhatIfAction, Text> = {
  copyFlags: say`Copy options`,
  putIntoPreset: say`Put into preset`,
  restartServer: say`Restart server`,
};

/** The page keeps what is tried; the extension answers what it would mean. */
export function tryChange(view: View, whatIf: LaunchChange): void {
  view.change({ whatIf });
  view.post({ type: "whatIf", change: whatIf });
}

function set(
  view: View,
  field: ChangeField,
  value: LaunchChange[ChangeField],
  now: string | undefined,
): void {
  const others = changeFields.filter((each) => each !== field && view.ui.whatIf[each] !== undefined);
  const kept = Object.fromEntries(others.map((each) => [each, view.ui.whatIf[each]])) as LaunchChange;
  const same = value === undefined || String(value) === now;
  tryChange(view, same ? kept : { ...kept, [field]: value });
}

/** `-c` as a slider over usual sizes; its steps are the keyboard's, too. */
function contextKnob(view: View, { contexts, now }: TryableOptions, tried: LaunchChange): TemplateResult {
  const { words } = view;
  const value = tried.ctxSize ?? Number(now.ctxSize);
  const index = Math.max(
    0,
    contexts.findLastIndex((each) => each <= value),
  );
  const text = words(say`${count(value)} token[s]`);
  const slide = (event: Event): void => {
    const chosen = contexts[Number((event.target as HTMLInputElement).value)];
    set(view, "ctxSize", chosen, now.ctxSize);
  };
  return html`<label class="knob context-knob">
    <span>${words(say`context`)} <code>-c</code></span>
    <input
      type="range"
      min="0"
      max=${contexts.length - 1}
      .value=${String(index)}
      aria-valuetext=${text}
      @input=${slide}
    />
    <output>${text}</output>
  </label>`;
}

function choiceKnob(
  view: View,
  { now }: TryableOptions,
  field: keyof TryableOptions["now"],
  choices: readonly string[],
  name: Text,
): TemplateResult {
  const value = String(view.ui.whatIf[field] ?? now[field]);
  const numeric = field === "parallel" || field === "ubatchSize";
  const choose = (event: Event): void => {
    const chosen = (event.target as HTMLSelectElement).value;
    set(view, field, numeric ? Number(chosen) : chosen, now[field]);
  };
  return html`<label class=${value === now[field] ? "knob" : "knob changed"}>
    <span>${view.words(name)} <code>${changeFlags[field][0]}</code></span>
    <select .value=${value} @change=${choose}>
      ${choices.map((choice) => html`<option value=${choice} ?selected=${choice === value}>${choice}</option>`)}
    </select>
  </label>`;
}

function layerKnob(
  view: View,
  field: "gpuLayers" | "nCpuMoe",
  { now, most }: LayerRange,
  name: Text,
): TemplateResult {
  const value = view.ui.whatIf[field] ?? now;
  const type = (event: Event): void => {
    const { value: typed } = event.target as HTMLInputElement;
    const layers = Math.min(most, Math.max(0, Math.trunc(Number(typed))));
    set(view, field, typed === "" || Number.isNaN(layers) ? undefined : layers, now?.toString());
  };
  return html`<label class=${view.ui.whatIf[field] === undefined ? "knob" : "knob changed"}>
    <span>${view.words(name)} <code>${changeFlags[field][0]}</code></span>
    <input
      type="number"
      min="0"
      max=${most}
      step="1"
      placeholder="auto"
      .value=${value === undefined ? "" : String(value)}
      @input=${type}
    />
  </label>`;
}

const slotChoices = ({ now }: TryableOptions): readonly string[] =>
  [...new Set([1, 2, 3, 4, 6, 8, 12, 16, 32, Number(now.parallel)])].sort((a, b) => a - b).map(String);

/** The three answers beside each other, each with what it was. */
function result(view: View): TemplateResult {
  const { whatIf, report } = view.model;
  const { words } = view;
  const rows = whatIf === undefined || report === undefined ? [] : differences(report, whatIf.report);
  return html`<dl class="differences" aria-live="polite">
    ${rows.map(
      ([name, value, before]) =>
        html`<div>
          <dt>${words(name)}</dt>
          <dd>
            ${words(value)}
            ${before === undefined ? nothing : html`<span class="dim">${words(before)}</span>`}
          </dd>
        </div>`,
    )}
  </dl>`;
}

type Difference = readonly [name: Text, value: Text, before: Text | undefined];

function differences(now: GaugeReport, then: GaugeReport): readonly Difference[] {
  const rows: Difference[] = [];
  const was = (text: Text): Text => say`now ${text}`;
  const [perSlot, perSlotNow] = [then.acceptance.nCtxPerSlot, now.acceptance.nCtxPerSlot];
  if (perSlot !== null) {
    rows.push([
      say`Room`,
      say`${count(perSlot)} token[s] per request`,
      perSlotNow === null ? undefined : was(say`${count(perSlotNow)}`),
    ]);
  }
  if (then.memory.known) {
    const { totalBytes, tightest } = then.memory.value;
    const total = say`${bytes(totalBytes)}`;
    rows.push([
      say`Memory`,
      tightest === undefined ? total : say`${total}. ${tightest.text}`,
      now.memory.known ? was(say`${bytes(now.memory.value.totalBytes)}`) : undefined,
    ]);
  }
  const wait = then.prefill.known
    ? say`${seconds(then.prefill.seconds)} (${seconds(then.prefill.lowSeconds)} – ${seconds(then.prefill.highSeconds)})`
    : then.prefill.reason;
  rows.push([
    say`Wait`,
    wait,
    then.prefill.known && now.prefill.known ? was(say`${seconds(now.prefill.seconds)}`) : undefined,
  ]);
  return rows;
}
