import { fitCurve } from "../prefill/curveFit";
import type { CurveKey, CurvePoint, DepthCurve, GenerationPoint } from "../prefill/depthCurve";
import type { Drift } from "./drift";
import { spreadOfDisturbance } from "../monitor/disturbed";
import type { MonitorReport } from "../monitor/monitorSample";

/** Two runs minutes apart on an untouched machine (log standard deviation). */
const quiet = 0.01;
const watchedBadly = 0.03;
/** Of a run whose watch has not said its word. */
export const unwatchedSpread = watchedBadly;

/** How far two runs in the session of a probe may differ: what it saw itself, and at least what such machines do. */
export function sessionSpreadOf(monitor: MonitorReport, drift: Drift | undefined): number {
  const seen = drift === undefined ? 0 : Math.abs(Math.log1p(drift.change)) / 2;
  const floor = monitor.verdict === "clean" ? quiet : watchedBadly;
  return Math.max(seen, floor, spreadOfDisturbance(monitor));
}

/** Runs of two and four times the probed depth, in units of the scatter of their probe's spans (docs/evidence/prediction.md). */
const runsByScatter = 1.5;

/**
 * The curve of a probe. Its spread grows with what the probe's own spans scatter by: whatever makes them differ, such as
 * other guests of the host that no counter shows, shifts a whole run later as well.
 */
export function probeCurve(
  key: CurveKey,
  measured: {
    readonly points: readonly CurvePoint[];
    readonly generation: readonly GenerationPoint[];
    readonly overheadSeconds?: number;
  },
  spread: number,
): DepthCurve {
  const curve: DepthCurve = {
    key,
    points: measured.points.toSorted((p, q) => p.depth - q.depth || p.tokens - q.tokens),
    generation: measured.generation.toSorted((p, q) => p.depth - q.depth),
    ...(measured.overheadSeconds !== undefined && { overheadSeconds: measured.overheadSeconds }),
    spread,
  };
  if (curve.points.length === 0) return curve;
  return { ...curve, spread: Math.max(spread, runsByScatter * fitCurve(curve).noise) };
}
