import { historyAsCsv, historyAsJson, historyAsMarkdown } from "./exportHistory";
import type { HistoryRecord } from "./historyRecord";

export const historyFormats = ["md", "csv", "json"] as const;
export type HistoryFormat = (typeof historyFormats)[number];

const writers: Readonly<Record<HistoryFormat, (records: readonly HistoryRecord[]) => string>> = {
  md: historyAsMarkdown,
  csv: historyAsCsv,
  json: historyAsJson,
};

export function historyAs(format: HistoryFormat, records: readonly HistoryRecord[]): string {
  return writers[format](records);
}
