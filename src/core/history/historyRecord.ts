import type { CurveKey, DepthCurve } from "../prefill/depthCurve";
import { parseDepthCurve } from "../prefill/depthCurve";
import type { RequestTiming } from "../prefill/liveTimings";
import type { ComparisonResult } from "../bench/comparison";
import type { Drift } from "../bench/drift";
import {
  checkedComparison,
  checkedDrift,
  checkedKey,
  checkedMonitor,
  checkedRequest,
  checkedSteps,
  isTime,
  plainFields,
} from "./historyFields";
import type { MonitorReport } from "../monitor/monitorSample";
import type { ProbeReport } from "../bench/probeReport";
import type { CostStep } from "../bench/costSteps";

export const historyVersion = 1;

const historyKinds = ["probe", "bench", "comparison", "ladder", "request", "import", "baseline"] as const;
export type HistoryKind = (typeof historyKinds)[number];

/** The machine a run was made on, as far as it can be told. */
export interface MachineFacts {
  readonly platform: string;
  readonly cpu: string;
  readonly logicalCpus: number;
  readonly memoryBytes: number;
  readonly onBattery?: boolean;
}

/** One run: one line of the history. Lines are only ever added. */
export interface HistoryRecord {
  readonly version: typeof historyVersion;
  readonly id: string;
  readonly kind: HistoryKind;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly tool: string;
  readonly curve?: DepthCurve;
  /** What a request or a comparison was measured on; a curve has its own. */
  readonly key?: CurveKey;
  /** A prompt of somebody else's that the server read. */
  readonly request?: RequestTiming;
  readonly comparison?: ComparisonResult;
  readonly modelBytes?: number;
  readonly argv?: readonly string[];
  /** What the server or the program said it was really using. */
  readonly effective?: Readonly<Record<string, string>>;
  readonly plannedSeconds?: number;
  readonly seconds?: number;
  readonly ended?: string;
  readonly monitor?: MonitorReport;
  readonly drift?: Drift;
  readonly steps?: readonly CostStep[];
  readonly machine?: MachineFacts;
  readonly error?: string;
  /** Output of the program as it came, for what could not be understood. */
  readonly raw?: string;
  readonly label?: string;
}

/** The line of the history for a probe. */
export function recordOfProbe(
  report: ProbeReport,
  about: Pick<HistoryRecord, "id" | "at" | "tool"> & Partial<HistoryRecord>,
): HistoryRecord {
  const { curve, plannedSeconds, seconds, ended, monitor, drift, steps } = report;
  return {
    kind: "probe",
    ...about,
    version: historyVersion,
    curve,
    plannedSeconds,
    seconds,
    ended,
    monitor,
    ...(drift !== undefined && { drift }),
    steps,
  };
}

/** What a run has measured while it is still under way; its own record takes the place of this one. */
export function recordOfUnfinished(
  curve: DepthCurve,
  about: Pick<HistoryRecord, "id" | "at" | "tool">,
): HistoryRecord {
  return { ...about, kind: "probe", version: historyVersion, curve, ended: "unfinished" };
}

export type HistoryLine =
  | { readonly kind: "record"; readonly record: HistoryRecord }
  /** Written by a later version: shown as such, never rewritten. */
  | { readonly kind: "newer"; readonly version: number; readonly line: string }
  | { readonly kind: "broken"; readonly line: string };

/** Reads one line of the history. A line torn by a kill is broken, and only that line. */
export function parseHistoryLine(line: string): HistoryLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { kind: "broken", line };
  }
  if (typeof value !== "object" || value === null) return { kind: "broken", line };
  const fields = value as Readonly<Record<string, unknown>>;
  const version = fields["version"];
  if (typeof version !== "number") return { kind: "broken", line };
  if (version > historyVersion) return { kind: "newer", version, line };
  const kind = historyKinds.find((known) => known === fields["kind"]);
  const { id, at } = fields;
  if (version !== historyVersion || kind === undefined || typeof id !== "string" || !isTime(at)) {
    return { kind: "broken", line };
  }
  try {
    const curve =
      fields["curve"] === undefined ? {} : { curve: parseDepthCurve(fields["curve"], { empty: true }) };
    const key = checkedKey(fields["key"]);
    const monitor = checkedMonitor(fields["monitor"]);
    const request = checkedRequest(fields["request"]);
    const comparison = checkedComparison(fields["comparison"]);
    const drift = checkedDrift(fields["drift"]);
    const steps = checkedSteps(fields["steps"]);
    return {
      kind: "record",
      record: {
        ...(plainFields(fields) as unknown as HistoryRecord),
        ...curve,
        ...(key !== undefined && { key }),
        ...(monitor !== undefined && { monitor }),
        ...(request !== undefined && { request }),
        ...(comparison !== undefined && { comparison }),
        ...(drift !== undefined && { drift }),
        ...(steps !== undefined && { steps }),
      },
    };
  } catch {
    return { kind: "broken", line };
  }
}
