import { html, nothing, type TemplateResult } from "lit";
import { crashRiskName } from "../../core/report/crashRisk";
import type { GaugeReport } from "../../core/report/gaugeReport";
import { visibleName } from "../../core/visibleName";
import { bytes, count, percent, say, type Text } from "../../core/text";
import type { SkippedFile } from "../../core/files/files";
import type { CountedFile } from "../../core/tokens/tokenCount";
import { tokenTree, type TokenNode } from "../../core/tokens/tokenTree";
import { contextBar } from "../charts/contextBar";
import { treemapChart } from "../charts/treemapChart";
import { choiceBar, fileSwitch, kindList, leftOutOf } from "./fileChoiceBar";
import { card, commandButton, dataTable, missing, type Cell } from "./parts";
import { crashNotice } from "./crashNotice";
import type { View } from "../view/view";
import { fileKindName, skipReasonText } from "../../core/report/names";

const rowsAtFirst = 200;

export function roomCard(view: View, report: GaugeReport): TemplateResult {
  const { files } = report.tokens;
  return card(view, {
    id: "room",
    wide: true,
    title: say`Room`,
    question: say`what fills the context`,
    twin: files.length > 0,
    body: html`${crashNotice(view, report)}
    ${files.length === 0 ? noFiles(view, report) : choiceBar(view, report)}
    ${files.length === 0 ? nothing : view.ui.room === "picture" ? treemapChart(view, treeOf(files), leftOutOf(report)) : fileTable(view, report)}
    ${kindList(view, report)} ${contextBar(view, report)}
    ${report.tokens.notes.map((note) => html`<p class="dim">${view.words(note)}</p>`)}
    ${skippedList(view, report)}`,
  });
}

const trees = new WeakMap<readonly CountedFile[], TokenNode>();

/** The tree of a report, made once: the page is drawn many times with the same one. */
function treeOf(files: readonly CountedFile[]): TokenNode {
  const made = trees.get(files) ?? tokenTree(files);
  trees.set(files, made);
  return made;
}

function noFiles(view: View, { scope }: GaugeReport): TemplateResult {
  if (scope.roots.length === 0) {
    return missing(
      view,
      say`No files were selected: this is the memory budget alone.`,
      say`Right-click files or folders in the Explorer to see what sending them costs.`,
      commandButton(view, "estimateWorkspace", say`Estimate workspace`),
    );
  }
  return missing(
    view,
    say`No text file was found.`,
    say`What was excluded and why is listed below; .gitignore and the setting llamaGauge.exclude determine it.`,
  );
}

function fileTable(view: View, report: GaugeReport): TemplateResult {
  const { tokens } = report;
  const out = leftOutOf(report);
  const sorted = tokens.files.toSorted((a, b) => b.tokens - a.tokens);
  const shown = view.ui.allFiles ? sorted : sorted.slice(0, rowsAtFirst);
  const row = (counted: CountedFile): Cell[] => [
    html`${fileSwitch(view, counted, out.has(counted.file.path))}${nameOf(view, counted)}`,
    ...figures(counted),
    markOf(counted),
  ];
  const plain = (counted: CountedFile): (string | Text)[] => [
    visibleName(counted.file.label),
    ...figures(counted),
    counted.longRun !== undefined
      ? crashRiskName
      : counted.mark === undefined
        ? ""
        : fileKindName(counted.mark.kind),
  ];
  const figures = ({ file, tokens: own }: CountedFile): Text[] => [
    say`${count(own)}`,
    say`${percent((100 * own) / Math.max(1, tokens.tokens))}`,
    say`${bytes(file.bytes)}`,
  ];
  const markOf = ({ mark, longRun }: CountedFile): TemplateResult =>
    html`${mark === undefined ? nothing : html`<span title=${view.words(mark.evidence)}>${view.words(fileKindName(mark.kind))}</span> `}
    ${longRun === undefined ? nothing : html`<span class="warning">${view.words(crashRiskName)}</span>`}`;
  return html`${dataTable(
    view,
    say`Files by tokens`,
    [
      { title: say`File` },
      { title: say`Tokens`, figures: true },
      { title: say`Share`, figures: true },
      { title: say`Size`, figures: true },
      { title: say`Mark` },
    ],
    shown.map(row),
    () => sorted.map(plain),
  )}
  ${
    shown.length === sorted.length
      ? nothing
      : html`<button type="button" class="link" @click=${() => view.change({ allFiles: true })}>
          ${view.words(say`Show all ${count(sorted.length)} file[s]`)}
        </button>`
  }`;
}

function nameOf(view: View, { file }: CountedFile): TemplateResult {
  const open = (): void => view.post({ type: "openFile", path: file.path });
  return html`<button type="button" class="link" @click=${open}>${visibleName(file.label)}</button>`;
}

function skippedList(view: View, { tokens }: GaugeReport): TemplateResult | typeof nothing {
  const { skipped } = tokens;
  if (skipped.length === 0) return nothing;
  const shown = skipped.slice(0, rowsAtFirst);
  const row = (item: SkippedFile): (string | Text)[] => [
    `${visibleName(item.label)}${item.folder ? "/" : ""}`,
    skipReasonText(item),
  ];
  return html`<details>
    <summary>${view.words(say`Not counted: ${count(skipped.length)}`)}</summary>
    ${dataTable(
      view,
      say`What was excluded`,
      [{ title: say`File or folder` }, { title: say`Reason` }],
      shown.map(row),
      () => skipped.map(row),
    )}
    ${shown.length === skipped.length ? nothing : html`<p class="dim">${view.words(say`and ${count(skipped.length - shown.length)} more`)}</p>`}
  </details>`;
}
