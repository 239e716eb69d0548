import type { DepthCurve } from "../prefill/depthCurve";
import { remainingPrefill } from "../prefill/liveEta";
import type { LivePrefill } from "../prefill/livePrefill";
import type { Prediction } from "../prefill/prediction";
import { say } from "../text";
import type { RunningRequest } from "./requestRecord";

/**
 * A prompt that is read now, as the lines so far tell it. `nowSeconds`: since the server's start; what is left is counted down
 * from the last line on. Undefined where the answer is written already.
 */
export function liveRequest(
  running: RunningRequest,
  nowSeconds: number | undefined,
  curve: DepthCurve | undefined,
): LivePrefill | undefined {
  const { stage, startedAt, promptTokens, progress } = running;
  if (stage !== "reading") return undefined;
  const cached = running.cachedTokens ?? 0;
  const last = progress.at(-1);
  const processed = cached + (last?.tokens ?? 0);
  const elapsed =
    nowSeconds === undefined || startedAt === undefined ? undefined : Math.max(0, nowSeconds - startedAt);
  const quiet = elapsed === undefined ? undefined : Math.max(0, elapsed - (last?.seconds ?? 0));
  const base = {
    processed,
    assumed: false,
    ...(elapsed !== undefined && { elapsedSeconds: elapsed }),
    ...(quiet !== undefined && { quietSeconds: quiet }),
  };
  if (promptTokens === undefined) {
    const reason = say`The log does not tell the length of the prompt yet.`;
    return { ...base, remaining: { known: false, reason } };
  }
  const total = Math.max(processed, Math.round((promptTokens.low + promptTokens.high) / 2));
  const events = [
    { processed: cached, seconds: 0 },
    ...progress.map(({ tokens, seconds }) => ({ processed: cached + tokens, seconds })),
  ];
  const remaining = remainingPrefill({ total, cached, progress: events }, curve);
  return { ...base, total, remaining: countedDown(remaining, quiet ?? 0) };
}

function countedDown(remaining: Prediction, gone: number): Prediction {
  if (!remaining.known) return remaining;
  const left = (seconds: number): number => Math.max(0, seconds - gone);
  return {
    ...remaining,
    seconds: left(remaining.seconds),
    lowSeconds: left(remaining.lowSeconds),
    highSeconds: left(remaining.highSeconds),
  };
}
