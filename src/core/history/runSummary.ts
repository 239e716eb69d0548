import { say } from "../text";
import type { Text } from "../text";
import type { HistoryKind, HistoryRecord } from "./historyRecord";
import { foreignUseTexts } from "../monitor/foreignUse";
import { assumedText } from "./assumption";
import { eventText } from "../monitor/interference";
import type { MonitorVerdict } from "../monitor/monitorSample";
import { largest } from "../lists";

const mostRuns = 50;
const mostNotes = 4;

/** The runs a reader may want to look up, newest first; single requests only refine them. */
export function runSummaries(records: readonly HistoryRecord[]): readonly RunSummary[] {
  return records
    .filter(({ kind }) => kind !== "request" && kind !== "ladder")
    .toSorted((p, q) => q.at - p.at)
    .slice(0, mostRuns)
    .map(runSummary);
}

function runSummary(record: HistoryRecord): RunSummary {
  const { id, kind, at, label, curve, comparison } = record;
  const key = curve?.key ?? record.key;
  const points = curve?.points ?? [];
  const [first] = points;
  const last = points.at(-1);
  const generation = curve?.generation.at(-1);
  return {
    id,
    kind,
    at,
    ...(label !== undefined && { label }),
    ...(record.assumed !== undefined && { assumed: record.assumed.use }),
    model: key?.model ?? "",
    build: key?.build ?? "",
    flags:
      comparison === undefined ? (key?.flags ?? "") : `${comparison.option} ${comparison.values.join(" / ")}`,
    ...(points.length > 0 && { deepest: largest(points.map((p) => p.depth + p.tokens)) }),
    ...(first !== undefined && { first: first.seconds / first.tokens }),
    ...(last !== undefined && { last: last.seconds / last.tokens }),
    ...(generation !== undefined && { generation }),
    verdict: record.monitor?.verdict ?? "unmonitored",
    notes: notesOf(record).slice(0, mostNotes),
  };
}

function notesOf({ ended, monitor, error, comparison, assumed }: HistoryRecord): readonly Text[] {
  return [
    ...(assumed === undefined ? [] : [assumedText(assumed)]),
    ...(comparison === undefined ? [] : [comparison.prefill.sentence, comparison.generation.sentence]),
    ...(ended === "cancelled" ? [say`Stopped by the user; what was measured so far is kept.`] : []),
    ...(ended === "failed" ? [say`It ended early; what was measured so far is kept.`] : []),
    ...(ended === "unfinished" ? [say`It was cut off; what was measured so far is kept.`] : []),
    ...(error === undefined ? [] : [say`${error}`]),
    ...(monitor?.events ?? []).map(eventText),
    ...(monitor === undefined ? [] : foreignUseTexts(monitor)),
  ];
}

/** A run of the history in one row. */
export interface RunSummary {
  readonly id: string;
  readonly kind: HistoryKind;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly label?: string;
  /** Of an import that does not tell its setup: whether it is taken to be of the one that was asked about. */
  readonly assumed?: boolean;
  readonly model: string;
  readonly build: string;
  readonly flags: string;
  /** Deepest position (tokens) it reached. */
  readonly deepest?: number;
  /** Seconds per prompt token at the beginning and at the deepest point. */
  readonly first?: number;
  readonly last?: number;
  readonly generation?: { readonly depth: number; readonly tokensPerSecond: number };
  readonly verdict: MonitorVerdict;
  /** Who, when, how much; and what else there is to say. */
  readonly notes: readonly Text[];
}
