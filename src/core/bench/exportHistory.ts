import type { HistoryRecord } from "./historyRecord";

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
] as const;

type Cells = Readonly<Record<(typeof columns)[number], string>>;

/** One row per measured span or generation speed of every record. */
function cells(records: readonly HistoryRecord[]): readonly Cells[] {
  return records.flatMap((record) => {
    const { curve } = record;
    const base = {
      id: record.id,
      kind: record.kind,
      time: new Date(record.at).toISOString(),
      model: curve?.key.model ?? "",
      build: curve?.key.build ?? "",
      flags: curve?.key.flags ?? "",
      backend: curve?.key.backend ?? "",
      hardware: curve?.key.hardware ?? "",
      verdict: record.monitor?.verdict ?? "unmonitored",
    };
    const prefill = (curve?.points ?? []).map((p) => ({
      ...base,
      depth: String(p.depth),
      tokens: String(p.tokens),
      seconds: String(p.seconds),
      "tokens per second": (p.tokens / p.seconds).toFixed(2),
    }));
    const generation = (curve?.generation ?? []).map((p) => ({
      ...base,
      depth: String(p.depth),
      tokens: "",
      seconds: "",
      "tokens per second": p.tokensPerSecond.toFixed(2),
    }));
    return prefill.length + generation.length > 0
      ? [...prefill, ...generation]
      : [{ ...base, depth: "", tokens: "", seconds: "", "tokens per second": "" }];
  });
}

export function historyAsCsv(records: readonly HistoryRecord[]): string {
  const quote = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const lines = [
    columns.join(","),
    ...cells(records).map((row) => columns.map((c) => quote(row[c])).join(",")),
  ];
  return `${lines.join("\n")}\n`;
}

export function historyAsMarkdown(records: readonly HistoryRecord[]): string {
  const shown = columns.filter((c) => c !== "id");
  const plain = (cell: string): string => cell.replaceAll("|", "\\|").replaceAll(/\s+/g, " ");
  const lines = [
    `| ${shown.join(" | ")} |`,
    `|${shown.map(() => "---").join("|")}|`,
    ...cells(records).map((row) => `| ${shown.map((c) => plain(row[c])).join(" | ")} |`),
  ];
  return `${lines.join("\n")}\n`;
}

export function historyAsJson(records: readonly HistoryRecord[]): string {
  return `${JSON.stringify(records, null, 2)}\n`;
}
