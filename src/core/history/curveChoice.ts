import { known, unknown, type Known } from "../known";
import type { CurveKey, DepthCurve } from "../prefill/depthCurve";
import { clockMs, spreadUntilNow } from "../prefill/curveAge";
import { otherDay, refineCurve } from "../prefill/liveTimings";
import { canonicalFlags, sameFlags } from "../llamaBench/speedSetup";
import { say } from "../text";
import { sameBuild } from "../launch/builds";
import type { Drift } from "../bench/drift";
import type { MissingField } from "./assumption";
import { daySpread, type DayRun } from "./daySpread";
import type { HistoryKind, HistoryRecord } from "./historyRecord";
import { spreadOfDisturbance } from "../monitor/disturbed";
import type { MonitorReport } from "../monitor/monitorSample";
import type { CostStep } from "../bench/costSteps";

export interface CurveWanted {
  readonly model: string;
  /** Empty: not known, as where no server runs. */
  readonly build: string;
  /** `speedFlags` of the launch. */
  readonly flags: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Where a curve comes from, and what is known about the machine meanwhile. */
export interface CurveOrigin {
  /** Of the record in the history. */
  readonly id: string;
  readonly kind: HistoryKind;
  readonly tool: string;
  /** Milliseconds since the epoch. */
  readonly measuredAt: number;
  /** file: that is the date of the file it was imported from, which has none of its own. */
  readonly dated?: "file";
  /** What the import does not tell, and the user said it is of this setup. */
  readonly assumed?: readonly MissingField[];
  /** How long measuring took. */
  readonly seconds?: number;
  readonly monitor?: MonitorReport;
  readonly drift?: Drift;
  readonly steps?: readonly CostStep[];
  /** Whether it was measured with the build that is asked for. */
  readonly sameBuild: boolean;
  /** Real requests since then that refined it. */
  readonly requests: number;
  /** Their time over the curve's: 1.1 is 10 % slower. */
  readonly factor: number;
  /** Days the spread was learned from, and the standard deviation of ln(time) to expect of another one. */
  readonly days?: number;
  readonly daySpread?: number;
}

export interface MeasuredCurve {
  /** Its spread covers what may have changed since it was measured. */
  readonly curve: DepthCurve;
  readonly origin: CurveOrigin;
}

interface Candidate {
  readonly record: HistoryRecord;
  readonly curve: DepthCurve;
}

/** Until then a clean run is worth more than a newer one on a disturbed machine. */
const sessionMs = 6 * 3600_000;
/** A point or two say nothing about depth. */
const enoughPoints = 3;
/** Curves of one model with other flags that are kept at hand. */
const mostCurves = 12;

/**
 * The curve of this model with these flags, refined by the requests that were seen since: the same build before every
 * other, a complete run before one that was stopped at once, then the newest. Curves with other flags are never taken: KV
 * cache types, ubatch and placement each change the slope.
 */
export function chooseCurve(
  records: readonly HistoryRecord[],
  wanted: CurveWanted,
): MeasuredCurve | undefined {
  const fitting = records.flatMap((record) =>
    record.kind !== "baseline" &&
    record.curve?.key.model === wanted.model &&
    sameFlags(record.curve.key.flags, wanted.flags) &&
    record.curve.points.length > 0
      ? [{ record, curve: record.curve }]
      : [],
  );
  const ofBuild = fitting.filter(({ curve }) => sameBuild(curve.key.build, wanted.build));
  const candidates = ofBuild.length > 0 ? ofBuild : fitting;
  const complete = candidates.filter(({ curve }) => curve.points.length >= enoughPoints);
  const chosen = newestUndisturbed(complete.length > 0 ? complete : candidates, wanted.now);
  return chosen && withHindsight(chosen, records, wanted, ofBuild.length > 0);
}

/** What a clock that was set back since has dated into the future is taken last: its age is not known. */
function newestUndisturbed(candidates: readonly Candidate[], now: number): Candidate | undefined {
  const ahead = ({ record }: Candidate): number => (record.at > now + clockMs ? 1 : 0);
  const [newest, ...older] = candidates.toSorted((p, q) => ahead(p) - ahead(q) || q.record.at - p.record.at);
  if (newest?.record.monitor?.verdict !== "contaminated") return newest;
  const clean = older.find(
    ({ record }) => record.monitor?.verdict !== "contaminated" && newest.record.at - record.at <= sessionMs,
  );
  return clean ?? newest;
}

/** Session factor and slope from the requests that were seen since, and the spread that is left. */
function withHindsight(
  { record, curve }: Candidate,
  records: readonly HistoryRecord[],
  wanted: CurveWanted,
  ofBuild: boolean,
): MeasuredCurve {
  const since = records.filter((r) => r.at > record.at && isRequestOf(r, wanted));
  const refined = refineCurve(
    curve,
    since.flatMap(({ request }) => (request === undefined ? [] : [request])),
  );
  const last = since.at(-1)?.at ?? record.at;
  const learned = refined.requests > 0;
  const constant = spreadUntilNow({
    now: wanted.now,
    measuredAt: learned || record.dated !== "file" ? (learned ? last : record.at) : undefined,
    // the requests are this build's, whatever the curve's is
    sameBuild: ofBuild || learned,
    undisturbed: record.monitor?.verdict === "clean",
  });
  // a session of hours says more about now than other days do
  const days = constant < otherDay || !ofBuild ? undefined : daySpread(curve, runsOf(records, wanted));
  const spread = days?.spread ?? constant;
  const center = days === undefined || learned ? 1 : Math.exp(days.center);
  return {
    curve: {
      ...refined.curve,
      points: refined.curve.points.map((point) => ({ ...point, seconds: point.seconds * center })),
      // what was measured on another day, or by an earlier version, may be narrower than its watch allows
      spread: Math.hypot(Math.max(refined.curve.spread ?? 0, spreadOfDisturbance(record.monitor)), spread),
    },
    origin: {
      id: record.id,
      kind: record.kind,
      tool: record.tool,
      measuredAt: record.at,
      ...(record.dated !== undefined && { dated: record.dated }),
      ...(record.assumed?.use === true && { assumed: record.assumed.missing }),
      ...(record.seconds !== undefined && { seconds: record.seconds }),
      ...(record.monitor !== undefined && { monitor: record.monitor }),
      ...(record.drift !== undefined && { drift: record.drift }),
      ...(record.steps !== undefined && { steps: record.steps }),
      sameBuild: ofBuild,
      requests: refined.requests,
      factor: refined.factor,
      ...(days !== undefined && { days: days.days, daySpread: days.spread }),
    },
  };
}

/** Whatever was measured of one setup and build, on whichever day. */
function runsOf(records: readonly HistoryRecord[], wanted: CurveWanted): readonly DayRun[] {
  return records.flatMap((record): DayRun[] => {
    const { at, kind, dated, curve, request, monitor } = record;
    if (isRequestOf(record, wanted)) return request === undefined ? [] : [{ at, request }];
    const told = kind !== "baseline" && dated !== "file" && monitor?.verdict !== "contaminated";
    return told && curve !== undefined && isOf(curve.key, wanted) ? [{ at, curve }] : [];
  });
}

const isOf = (key: CurveKey, { model, build, flags }: CurveWanted): boolean =>
  key.model === model && sameFlags(key.flags, flags) && sameBuild(key.build, build);

function isRequestOf({ kind, key }: HistoryRecord, wanted: CurveWanted): boolean {
  return kind === "request" && key !== undefined && isOf(key, wanted);
}

/** One curve for each set of flags this model was measured with, newest first: for "what if it ran with others". */
export function curvesOfModel(
  records: readonly HistoryRecord[],
  { model, build, now }: Omit<CurveWanted, "flags">,
): readonly MeasuredCurve[] {
  const keys = records.flatMap(({ curve }): CurveKey[] => (curve?.key.model === model ? [curve.key] : []));
  const flags = [...new Map(keys.map((key) => [canonicalFlags(key.flags), key.flags])).values()];
  return flags
    .flatMap((its) => chooseCurve(records, { model, build, flags: its, now }) ?? [])
    .toSorted((p, q) => q.origin.measuredAt - p.origin.measuredAt)
    .slice(0, mostCurves);
}

/**
 * The curve for these launch options (`speedFlags`): only one that was measured with exactly them, and its absence is
 * said.
 */
export function curveWith(curves: readonly MeasuredCurve[], flags: string): Known<DepthCurve> {
  const found = curves.find(({ curve }) => sameFlags(curve.key.flags, flags));
  if (found !== undefined) return known(found.curve);
  return flags === ""
    ? unknown(
        say`No speed has been measured with llama-server's defaults.`,
        say`Run a depth probe with them.`,
      )
    : unknown(say`No speed has been measured with ${flags}.`, say`Run a depth probe with these options.`);
}
