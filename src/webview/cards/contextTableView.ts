import { html, nothing, type TemplateResult } from "lit";
import type { ContextCell, ContextTable, TypeRow } from "../../core/memory/budget/contextTable";
import type { MemoryVerdict } from "../../core/memory/budget/memoryReport";
import { bytes, count, say, type Text } from "../../core/text";
import { dataTable } from "./parts";
import type { View } from "../view/view";

/** What every context costs with every KV type, made when it is opened. */
export function contextTableView(view: View): TemplateResult {
  const { words, post } = view;
  const table = view.model.contextTable;
  const toggle = (event: Event): void => {
    const { open } = event.target as HTMLDetailsElement;
    if (open === view.ui.contextTable) return;
    view.change({ contextTable: open });
    post({ type: "contextTable", open });
  };
  return html`<details ?open=${view.ui.contextTable} @toggle=${toggle}>
    <summary>${words(say`Every context with every KV type`)}</summary>
    ${
      table === undefined
        ? view.ui.contextTable
          ? html`<p class="dim" role="status">${words(say`Working`)}</p>`
          : nothing
        : html`${dataTable(
              view,
              say`Context and KV type`,
              columns(table),
              table.rows.map((row) => cells(view, table, row)),
            )}
            <p class="dim">
              ${words(
                say`Each cell shows the limiting device, or the total if free memory is unknown. The other options are as above, and -fit is ignored: whatever does not fit as specified counts as not fitting.`,
              )}
            </p>`
    }
  </details>`;
}

const columns = ({ contexts }: ContextTable): Parameters<typeof dataTable>[2] => [
  { title: say`K and V` },
  { title: say`per token`, figures: true },
  { title: say`largest -c that fits`, figures: true },
  ...contexts.map((nCtx) => ({ title: say`-c ${count(nCtx)}`, figures: true })),
];

function cells(
  { words }: View,
  { contexts }: ContextTable,
  row: TypeRow,
): readonly (string | TemplateResult)[] {
  if (!row.allowed) {
    return [row.type, words(say`rejected`), "–", ...contexts.map(() => "–")];
  }
  const largest =
    row.limitedBy === "training"
      ? say`${count(row.largest)} (training context)`
      : say`${count(row.largest)} (${row.limitedBy})`;
  return [
    row.type,
    words(say`${count(Math.round(row.bytesPerToken))} B`),
    words(row.largest === 0 ? say`none` : largest),
    ...row.cells.map(
      (cell) =>
        html`<span class="cell ${cell.verdict}"
          >${words(cellText(cell))} <small>${words(verdicts[cell.verdict])}</small></span
        >`,
    ),
  ];
}

function cellText({ tightest, totalBytes }: ContextCell): Text {
  return tightest === undefined
    ? say`${bytes(totalBytes)}`
    : say`${tightest.device} ${bytes(tightest.bytes)}`;
}

const verdicts: Record<MemoryVerdict, Text> = {
  fits: say`fits`,
  tight: say`tight`,
  exceeds: say`does not fit`,
  unknown: say`free unknown`,
};
