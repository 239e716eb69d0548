import { historyVersion, type HistoryRecord } from "../../history/historyRecord";
import type { MonitorReport } from "../../monitor/monitorSample";
import type { CurveKey, DepthCurve } from "../../prefill/depthCurve";
import { ladderReport } from "./ladderReport";
import { ladderCurveOf } from "../score/recommend";
import type { LadderRecord } from "../score/record";
import { largest } from "../../lists";

/** The line of the history for a ladder; the record itself stays in its own folder, which `id` names. */
export function historyOfLadder(
  record: LadderRecord,
  about: {
    readonly id: string;
    readonly key: CurveKey;
    /** Milliseconds since the epoch. */
    readonly at: number;
    readonly seconds: number;
    /** The curve in use: one that reaches less deep does not take its place. */
    readonly known: DepthCurve | undefined;
  },
): HistoryRecord {
  const { id, key, at, seconds, known } = about;
  const { header, steps } = record;
  const curve = ladderCurveOf(steps, key);
  const worth = curve !== undefined && (known === undefined || deepest(curve) >= deepest(known));
  const monitor = worst(steps.flatMap((step) => (step.monitor === undefined ? [] : [step.monitor])));
  return {
    version: historyVersion,
    id,
    kind: "ladder",
    at,
    tool: header.tool,
    seconds,
    ended: ladderReport(record).nextStep.outcome,
    effective: header.setup,
    machine: header.machine,
    ...(header.label !== undefined && { label: header.label }),
    ...(worth && { curve }),
    ...(monitor !== undefined && { monitor }),
  };
}

const deepest = ({ points }: DepthCurve): number =>
  largest(
    points.map(({ depth, tokens }) => depth + tokens),
    0,
  );

const order: readonly MonitorReport["verdict"][] = ["contaminated", "drift", "unmonitored", "clean"];

/** What spoils one run spoils the whole. */
function worst(reports: readonly MonitorReport[]): MonitorReport | undefined {
  return reports.toSorted((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict))[0];
}
