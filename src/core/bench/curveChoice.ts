import type { DepthCurve } from "../prefill/depthCurve";
import { sessionSpread } from "../prefill/liveTimings";
import type { HistoryRecord } from "./historyRecord";

export interface CurveWanted {
  readonly model: string;
  readonly build: string;
  /** `speedFlags` of the launch. */
  readonly flags: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface ChosenCurve {
  /** Its spread covers what may have changed since it was measured. */
  readonly curve: DepthCurve;
  /** Milliseconds since the epoch. */
  readonly measuredAt: number;
}

/**
 * The newest curve of this model with these flags, one of the same build before every other. Curves with other flags are
 * never taken: KV cache types, ubatch and placement each change the slope.
 */
export function chooseCurve(records: readonly HistoryRecord[], wanted: CurveWanted): ChosenCurve | undefined {
  const fitting = records.flatMap((record) =>
    record.curve?.key.model === wanted.model && record.curve.key.flags === wanted.flags
      ? [{ record, curve: record.curve }]
      : [],
  );
  const sameBuild = fitting.filter(({ curve }) => curve.key.build === wanted.build);
  const newest = (sameBuild.length > 0 ? sameBuild : fitting).reduce<(typeof fitting)[number] | undefined>(
    (best, one) => (best === undefined || one.record.at >= best.record.at ? one : best),
    undefined,
  );
  if (newest === undefined) return undefined;
  const { record, curve } = newest;
  const since = sessionSpread({
    seconds: Math.max(0, (wanted.now - record.at) / 1000),
    sameBuild: sameBuild.length > 0,
    undisturbed: record.monitor?.verdict === "clean",
  });
  return { curve: { ...curve, spread: Math.hypot(curve.spread ?? 0, since) }, measuredAt: record.at };
}
