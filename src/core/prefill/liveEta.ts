import { say } from "../text";
import { median } from "../median";
import { fitCurve, secondsBetween } from "./curveFit";
import type { CurvePoint, DepthCurve } from "./depthCurve";
import { predict } from "./predict";
import type { Prediction } from "./prediction";
import { largest } from "../lists";

/** One progress event of a prefill: `processed` tokens (with the cached ones) after `seconds`. */
export interface PrefillProgress {
  readonly processed: number;
  readonly seconds: number;
}

export interface RunningPrefill {
  /** Tokens of the whole prompt. */
  readonly total: number;
  readonly cached: number;
  /** In order of time. */
  readonly progress: readonly PrefillProgress[];
}

/** Spans between progress events; spans in which nothing was read are joined to the next. */
export function progressSpans({ cached, progress }: RunningPrefill): readonly CurvePoint[] {
  const spans: CurvePoint[] = [];
  let from = { processed: cached, seconds: 0 };
  for (const event of progress) {
    const tokens = event.processed - from.processed;
    const seconds = event.seconds - from.seconds;
    if (tokens <= 0 || seconds <= 0) {
      if (event.processed <= cached) from = event;
      continue;
    }
    spans.push({ depth: from.processed, tokens, seconds });
    from = event;
  }
  return spans;
}

/**
 * Seconds a running prefill still takes. Percent done is 15–25 % too hopeful, because the last tokens cost most: the
 * spans seen so far give today's speed, and their slope where there are enough; a probe gives the slope before that.
 */
export function remainingPrefill(running: RunningPrefill, probe?: DepthCurve): Prediction {
  const spans = progressSpans(running);
  const processed = running.progress.at(-1)?.processed ?? running.cached;
  const left = { tokens: Math.max(0, running.total - processed), cached: processed };
  if (spans.length === 0) {
    return probe === undefined
      ? {
          known: false,
          reason: say`Nothing has been read yet, and there is no measured curve for this setup.`,
        }
      : predict(withoutOverhead(probe), left);
  }
  return predict(withLive(spans, probe), left);
}

/** The probe at the speed of the spans, with the spans in place of what it knew about their depths. */
function withLive(spans: readonly CurvePoint[], probe: DepthCurve | undefined): DepthCurve {
  if (probe === undefined) {
    return { key: { model: "", build: "", flags: "" }, points: spans, generation: [] };
  }
  const fit = fitCurve(probe);
  const start = spans[0]?.depth ?? 0;
  const end = largest(spans.map((s) => s.depth + s.tokens));
  const recent = spans.slice(-4);
  const factor = median(recent.map((s) => s.seconds / secondsBetween(fit, s.depth, s.depth + s.tokens)));
  const elsewhere = probe.points
    .filter((p) => p.depth >= end || p.depth + p.tokens <= start)
    .map((p) => ({ ...p, seconds: p.seconds * factor }));
  if (end >= fit.end && spans.length >= enoughSpans) {
    return { ...withoutOverhead(probe), points: [...elsewhere, ...spans] };
  }
  // Too few spans to show a slope: the probe's own line at today's speed goes on behind them.
  const reach = Math.max(fit.end, end) * 2;
  const ahead = [end, (end + reach) / 2, reach].map((depth) => {
    const tokens = Math.max(256, Math.round(end / 8));
    return { depth, tokens, seconds: factor * secondsBetween(fit, depth, depth + tokens) };
  });
  return { ...withoutOverhead(probe), points: [...spans, ...ahead] };
}

/** From this many spans on their own slope is better than a probe's. */
const enoughSpans = 5;

function withoutOverhead(curve: DepthCurve): DepthCurve {
  const { key, points, generation, spread } = curve;
  return { key, points, generation, ...(spread !== undefined && { spread }) };
}
