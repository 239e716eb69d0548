import "@vscode-elements/elements/dist/vscode-button/index.js";
import { html, nothing, type TemplateResult } from "lit";
import type { PanelCommand } from "../../core/protocol/panelMessages";
import type { Provenance } from "../../core/provenance";
import { isText, say, type Text } from "../../core/text";
import { icon, type IconName } from "./icons";
import { savePicture, saveTable } from "../saving/save";
import type { PlainTable } from "../saving/tableText";
import type { CardId, Ui, View } from "../view/view";

/** A button that runs one of the extension's commands. */
export function commandButton(
  view: View,
  command: PanelCommand,
  title: Text,
  primary = false,
): TemplateResult {
  return html`<vscode-button ?secondary=${!primary} @click=${() => view.post({ type: "command", command })}
    >${view.words(title)}</vscode-button
  >`;
}

const explanations: Record<Provenance, readonly [Text, Text]> = {
  measured: [say`measured`, say`measured on this machine`],
  reported: [say`reported`, say`reported by llama.cpp`],
  computed: [say`computed`, say`computed from the model's header`],
  assumed: [say`assumed`, say`a default was used`],
};

/** Where a figure comes from. */
export function provenancePill({ words }: View, provenance: Provenance): TemplateResult {
  const [name, why] = explanations[provenance];
  return html`<span class="pill ${provenance}" title=${words(why)}>${words(name)}</span>`;
}

export interface Card {
  readonly id: CardId;
  /** Over the whole width of the page. */
  readonly wide?: boolean;
  readonly title: Text;
  readonly question: Text;
  readonly pill?: TemplateResult | undefined;
  readonly actions?: TemplateResult | undefined;
  /** Without it there is nothing to switch between. */
  readonly twin?: boolean;
  readonly body: TemplateResult;
}

/** One of the three questions with its picture; the same facts as a table one press away. */
export function card(view: View, about: Card): TemplateResult {
  const { words } = view;
  const { id, title, question, pill, actions, twin, body, wide = false } = about;
  return html`<section
    class=${wide ? "card wide" : "card"}
    id=${id}
    aria-labelledby="${id}-title"
    tabindex="-1"
  >
    <header>
      ${icon(id satisfies IconName)}
      <h2 id="${id}-title">${words(title)}</h2>
      <p class="question">${words(question)}</p>
      ${pill ?? nothing}
      <div class="actions">
        ${actions ?? nothing}${twin === true && view.ui[id] === "picture" ? pictureButton(view, title) : nothing}
        ${twin === true ? twinSwitch(view, id) : nothing}
      </div>
    </header>
    ${body}
  </section>`;
}

/** Saves what the card around it shows. */
function pictureButton(view: View, title: Text): TemplateResult {
  return saveButton(view.words(say`Save picture as SVG or PNG`), (button) => {
    const around = button.closest(".card");
    if (around !== null) savePicture(view, around, title).catch((error: unknown) => reportError(error));
  });
}

function saveButton(label: string, save: (button: Element) => void): TemplateResult {
  const click = (event: Event): void => {
    if (event.currentTarget instanceof Element) save(event.currentTarget);
  };
  return html`<button type="button" class="icon-button" title=${label} aria-label=${label} @click=${click}>
    ${icon("save")}
  </button>`;
}

function twinSwitch(view: View, id: CardId): TemplateResult {
  const choice = (value: Ui[CardId], title: Text): TemplateResult =>
    html`<button
      type="button"
      aria-pressed=${view.ui[id] === value ? "true" : "false"}
      @click=${() => view.change({ [id]: value })}
    >
      ${view.words(title)}
    </button>`;
  return html`<div class="switch" role="group" aria-label=${view.words(say`Show as`)}>
    ${choice("picture", say`Picture`)}${choice("table", say`Table`)}
  </div>`;
}

/** What is not known, why, and the one next step. */
export function missing(
  { words }: View,
  why: Text,
  remedy: Text | undefined,
  button: TemplateResult | typeof nothing = nothing,
): TemplateResult {
  return html`<div class="missing">
    <p>${words(why)}</p>
    ${remedy === undefined ? nothing : html`<p class="dim">${words(remedy)}</p>`} ${button}
  </div>`;
}

export interface Column {
  readonly title: Text;
  readonly figures?: boolean;
}

/** A `Text` is put into words where it is shown, and is a bare number in a file where it is nothing but a quantity. */
export type Cell = string | Text | TemplateResult;

/** A real table; first cell of a row is its heading. `allRows` are those for a file, where the page shows not all. */
export function dataTable(
  view: View,
  caption: Text,
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  allRows?: () => PlainTable["rows"],
): TemplateResult {
  const { words } = view;
  const save = (button: Element): void =>
    saveTable(view, caption, {
      caption: words(caption),
      columns: columns.map(({ title, figures = false }) => ({ title: words(title), figures })),
      rows: allRows?.() ?? plainRows(rows, button.closest(".data")),
    });
  const shown = (cell: Cell): string | TemplateResult => (isText(cell) ? words(cell) : cell);
  const kind = (i: number): string => (columns[i]?.figures === true ? "figure" : "");
  return html`<div class="data">
    <div class="heading">
      <span aria-hidden="true">${words(caption)}</span>
      ${saveButton(words(say`Save “${caption}” as CSV or Markdown`), save)}
    </div>
    <div class="scroll" tabindex="0" role="group" aria-label=${words(caption)}>
      <table>
        <caption class="unseen">
          ${words(caption)}
        </caption>
        <thead>
          <tr>
            ${columns.map((column, i) => html`<th scope="col" class=${kind(i)}>${words(column.title)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) =>
              html`<tr>
                ${row.map((cell, i) =>
                  i === 0
                    ? html`<th scope="row" class=${kind(i)}>${shown(cell)}</th>`
                    : html`<td class=${kind(i)}>${shown(cell)}</td>`,
                )}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </div>`;
}

/** Cells made of elements are read where they are shown. */
function plainRows(rows: readonly (readonly Cell[])[], table: Element | null): PlainTable["rows"] {
  const shown = table?.querySelectorAll("tbody tr");
  return rows.map((row, r) =>
    row.map((cell, i) =>
      typeof cell === "string" || isText(cell) ? cell : (shown?.[r]?.children[i]?.textContent ?? "").trim(),
    ),
  );
}
