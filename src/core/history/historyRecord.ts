import { given } from "../given";
import { Wire } from "../wire";
import type { CurveKey, DepthCurve } from "../prefill/depthCurve";
import { parseDepthCurve } from "../prefill/depthCurve";
import type { RequestTiming } from "../prefill/liveTimings";
import type { ComparisonResult } from "../bench/comparison";
import type { Drift } from "../bench/drift";
import {
  readAssumption,
  readComparison,
  readDrift,
  readKey,
  readMonitor,
  readRequest,
  readStep,
} from "./historyFields";
import type { Assumption } from "./assumption";
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
  /** file: `at` is the date of the file it was imported from. */
  readonly dated?: "file";
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
  /** Of an import that does not tell all of its setup. */
  readonly assumed?: Assumption;
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
  const value = Wire.ofJson(line, "");
  const version = value?.ifFits((its) => its.at("version").number());
  if (value === undefined || version === undefined) return { kind: "broken", line };
  if (version > historyVersion) return { kind: "newer", version, line };
  try {
    return { kind: "record", record: readRecord(value) };
  } catch {
    return { kind: "broken", line };
  }
}

/** What cannot be shown is left out, and only that; without kind, name, time or with a bad curve there is no record. */
function readRecord(line: Wire): HistoryRecord {
  const text = (name: string): string | undefined => line.at(name).ifFits((value) => value.longText());
  const number = (name: string): number | undefined => line.at(name).ifFits((value) => value.number());
  const curve = line.at("curve").optional((value) => parseDepthCurve(value.object(), { empty: true }));
  const steps = line.at("steps");
  return given({
    version: line.at("version").oneOf([historyVersion]),
    id: line.at("id").longText(),
    kind: line.at("kind").oneOf(historyKinds),
    at: line.at("at").time(),
    dated: line.at("dated").ifFits((value) => value.oneOf(["file"] as const)),
    tool: text("tool") ?? "",
    curve,
    key: line.at("key").ifFits(readKey),
    request: line.at("request").ifFits(readRequest),
    comparison: line.at("comparison").ifFits(readComparison),
    modelBytes: number("modelBytes"),
    argv: line.at("argv").ifFits((value) => value.items().map((word) => word.longText())),
    effective: line.at("effective").ifFits(readTexts),
    plannedSeconds: number("plannedSeconds"),
    seconds: number("seconds"),
    ended: text("ended"),
    monitor: line.at("monitor").ifFits(readMonitor),
    drift: line.at("drift").ifFits(readDrift),
    steps: steps.ifFits((value) => value.items()) && steps.fitting(readStep),
    machine: line.at("machine").ifFits(readMachine),
    error: text("error"),
    raw: text("raw"),
    label: text("label"),
    assumed: line.at("assumed").ifFits(readAssumption),
  });
}

function readTexts(fields: Wire): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(fields.object()).map((name) => [name, fields.at(name).longText()]));
}

function readMachine(machine: Wire): MachineFacts {
  return given({
    platform: machine.at("platform").longText(),
    cpu: machine.at("cpu").longText(),
    logicalCpus: machine.at("logicalCpus").number(),
    memoryBytes: machine.at("memoryBytes").number(),
    onBattery: machine.at("onBattery").ifFits((value) => value.boolean()),
  });
}
