import { html, nothing, type TemplateResult } from "lit";
import { fileKindName, packOrderNames } from "../../core/report/names";
import type { GaugeReport } from "../../core/report/gaugeReport";
import { isTooLong } from "../../core/report/wait";
import { count, say, seconds } from "../../core/text";
import { fileKinds, type FileKind } from "../../core/files/fileKinds";
import { packOrders } from "../../core/tokens/packOrder";
import type { CountedFile } from "../../core/tokens/tokenCount";
import { commandButton } from "./parts";
import type { View } from "../view/view";

/** Paths of the files that are not in the prompt. */
export const leftOutOf = ({ leftOut }: GaugeReport): ReadonlySet<string> => new Set(leftOut);

/** How much of what was counted is in the prompt, the way to make it fit, and the order of what is in it. */
export function choiceBar(view: View, report: GaugeReport): TemplateResult {
  const { words, post } = view;
  const { tokens, acceptance, wait, leftOut = [], pack } = report;
  const { accepted, answerRoom, answerReserve } = acceptance;
  const cramped = accepted === false || (answerRoom !== null && answerRoom < answerReserve);
  const inPrompt = tokens.files.length - leftOut.length;
  return html`<div class="choice">
    <p class="dim" role="status">
      ${words(
        leftOut.length === 0
          ? say`All files are in the prompt.`
          : say`${count(inPrompt)} of ${count(tokens.files.length)} file[s] [is|are] in the prompt.`,
      )}
    </p>
    ${cramped ? commandButton(view, "dropToFit", say`Drop files to fit`, true) : nothing}
    ${
      wait.patienceSeconds !== undefined && isTooLong(wait, acceptance.promptTokens)
        ? commandButton(
            view,
            "dropToReadInTime",
            say`Drop files to read it in ${seconds(wait.patienceSeconds)}`,
            !cramped,
          )
        : nothing
    }
    ${leftOut.length === 0 ? nothing : commandButton(view, "includeAll", say`Include all`)}
    ${
      pack === "raw"
        ? nothing
        : html`<label class="dim"
            >${words(say`Order`)}
            <select
              @change=${(event: Event) => {
                const order = packOrders.find((known) => known === (event.target as HTMLSelectElement).value);
                if (order !== undefined) post({ type: "packOrder", order });
              }}
            >
              ${packOrders.map(
                (order) =>
                  html`<option value=${order} ?selected=${order === pack.order}>
                    ${words(packOrderNames[order])}
                  </option>`,
              )}
            </select>
          </label>`
    }
  </div>`;
}

/** The kinds of files a prompt may do without, each with its tokens and a switch for all its files. */
export function kindList(view: View, report: GaugeReport): TemplateResult | typeof nothing {
  const out = leftOutOf(report);
  const kinds = fileKinds.flatMap((kind) => {
    const files = report.tokens.files.filter(({ mark }) => mark?.kind === kind);
    return files.length === 0 ? [] : [{ kind, files }];
  });
  if (kinds.length === 0) return nothing;
  return html`<svg class="unseen" aria-hidden="true">
      <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="line" width="1.5" height="6" />
      </pattern>
    </svg>
    <ul class="kinds" aria-label=${view.words(say`Files that could be excluded`)}>
      ${kinds.map(({ kind, files }) => kindItem(view, kind, files, out))}
    </ul>`;
}

function kindItem(
  { words, post }: View,
  kind: FileKind,
  files: readonly CountedFile[],
  out: ReadonlySet<string>,
): TemplateResult {
  const paths = files.map(({ file }) => file.path);
  const outside = paths.filter((path) => out.has(path)).length;
  const sum = files.reduce((total, { tokens }) => total + tokens, 0);
  return html`<li>
    <label>
      <input
        type="checkbox"
        .checked=${outside === 0}
        .indeterminate=${outside > 0 && outside < paths.length}
        @change=${(event: Event) =>
          post({ type: "leaveOut", paths, out: !(event.target as HTMLInputElement).checked })}
      />
      <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
        <rect class="marked" width="10" height="10" rx="2" />
        <rect class="hatch" width="10" height="10" rx="2" />
      </svg>
      ${words(fileKindName(kind))} <b>${words(say`${count(sum)}`)}</b>
      <span>${words(say`${count(files.length)} file[s]`)}</span>
    </label>
  </li>`;
}

/** A file's switch; its name stands beside it. */
export function fileSwitch({ words, post }: View, { file }: CountedFile, out: boolean): TemplateResult {
  return html`<input
    type="checkbox"
    aria-label=${words(say`Include ${file.label} in the prompt`)}
    .checked=${!out}
    @change=${(event: Event) =>
      post({ type: "leaveOut", paths: [file.path], out: !(event.target as HTMLInputElement).checked })}
  />`;
}
