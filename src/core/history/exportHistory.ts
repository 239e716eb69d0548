import { csv } from "../csv";
import { formatNumber, formatText } from "../format";
import { inMarkdown } from "../markdown";
import type { HistoryRecord } from "./historyRecord";
import type { ComparisonResult } from "../bench/comparison";

const columns = [
  ...[
    "id",
    "kind",
    "time",
    "model",
    "build",
    "flags",
    "backend",
    "hardware",
    "verdict",
    "depth",
    "tokens",
    "seconds",
  ],
  "tokens per second",
  "result",
] as const;

type Cells = Readonly<Record<(typeof columns)[number], string | number>>;

const nothing = { depth: "", tokens: "", seconds: "", "tokens per second": "", result: "" };

/** One row per measured span or generation speed of every record, per request, and per comparison with its answer. */
function cells(records: readonly HistoryRecord[]): readonly Cells[] {
  return records.flatMap((record): readonly Cells[] => {
    const { curve, request, comparison } = record;
    const key = curve?.key ?? record.key;
    const base = {
      ...nothing,
      id: record.id,
      kind: record.kind,
      time: new Date(record.at).toISOString(),
      model: key?.model ?? "",
      build: key?.build ?? "",
      flags: key?.flags ?? "",
      backend: key?.backend ?? "",
      hardware: key?.hardware ?? "",
      verdict: record.monitor?.verdict ?? (request?.disturbed === true ? "contaminated" : "unmonitored"),
    };
    const read = request && { depth: request.cached, tokens: request.tokens, seconds: request.seconds };
    const prefill = [...(curve?.points ?? []), ...(read === undefined ? [] : [read])].map((p) => ({
      ...base,
      depth: p.depth,
      tokens: p.tokens,
      seconds: p.seconds,
      "tokens per second": (p.tokens / p.seconds).toFixed(2),
    }));
    const generation = (curve?.generation ?? []).map((p) => ({
      ...base,
      depth: p.depth,
      "tokens per second": p.tokensPerSecond.toFixed(2),
    }));
    const compared =
      comparison === undefined
        ? []
        : [{ ...base, depth: comparison.depth, result: comparisonWords(comparison) }];
    const rows = [...prefill, ...generation, ...compared];
    return rows.length > 0 ? rows : [base];
  });
}

/** What was compared, what was to count, and both answers. */
function comparisonWords({ option, values, threshold, prefill, generation }: ComparisonResult): string {
  const least = formatNumber(100 * threshold, "en", 1);
  return [
    `${option} ${values.join(" / ")}, differences from ${least} %.`,
    ...[prefill, generation].flatMap(({ sentence, notes }) =>
      [sentence, ...notes].map((text) => formatText(text)),
    ),
  ].join(" ");
}

export function historyAsCsv(records: readonly HistoryRecord[]): string {
  return csv([columns, ...cells(records).map((row) => columns.map((c) => row[c]))]);
}

export function historyAsMarkdown(records: readonly HistoryRecord[]): string {
  const shown = columns.filter((c) => c !== "id");
  const lines = [
    `| ${shown.join(" | ")} |`,
    `|${shown.map(() => "---").join("|")}|`,
    ...cells(records).map((row) => `| ${shown.map((c) => inMarkdown(String(row[c]))).join(" | ")} |`),
  ];
  return `${lines.join("\n")}\n`;
}

function historyAsJson(records: readonly HistoryRecord[]): string {
  return `${JSON.stringify(records, null, 2)}\n`;
}

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
