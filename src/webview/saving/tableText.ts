import { csv } from "../../core/csv";
import { inMarkdown, markdownTable } from "../../core/markdown";
import type { Quantity, Text } from "../../core/text";
import type { Words } from "../view/words";

/** What a cell says, or the figure it is. */
export type PlainCell = string | Text;

export interface PlainTable {
  readonly caption: string;
  readonly columns: readonly { readonly title: string; readonly figures: boolean }[];
  readonly rows: readonly (readonly PlainCell[])[];
}

const symbols: Record<Quantity["unit"], string> = {
  count: "",
  bytes: " (B)",
  seconds: " (s)",
  tokensPerSecond: " (t/s)",
  percent: " (%)",
};

/** For programs: bare numbers, their unit in the heading. */
export function tableCsv({ columns, rows }: PlainTable, words: Words): string {
  const heading = columns.map(({ title }, i) => {
    const unit = rows.flatMap((row) => quantityOf(row[i])?.unit ?? [])[0];
    return unit === undefined ? title : `${title}${symbols[unit]}`;
  });
  return csv([
    heading,
    ...rows.map((row) => row.map((cell) => quantityOf(cell)?.value ?? plain(cell, words))),
  ]);
}

/** A table in Markdown, for people: figures as they are on the page. */
export function tableMarkdown({ caption, columns, rows }: PlainTable, words: Words): string {
  const table = markdownTable(
    columns.map(({ title }) => inMarkdown(title)),
    rows.map((row) => row.map((cell) => inMarkdown(plain(cell, words)))),
    (column) => (columns[column]?.figures === true ? "--:" : ":--"),
  );
  return `**${inMarkdown(caption)}**\n\n${table}\n`;
}

const plain = (cell: PlainCell, words: Words): string => (typeof cell === "string" ? cell : words(cell));

/** The one figure a cell is. */
function quantityOf(cell: PlainCell | undefined): Quantity | undefined {
  if (cell === undefined || typeof cell === "string" || cell.text !== "{0}") return undefined;
  const [arg] = cell.args;
  return typeof arg === "object" && "unit" in arg ? arg : undefined;
}
