import { count, say, seconds } from "../text";
import type { Text } from "../text";
import type { DepthCurve } from "./depthCurve";
import { remainingPrefill, type PrefillProgress } from "./liveEta";
import type { Prediction } from "./prediction";

/** A prompt the server reads now, as it is shown. */
export interface LivePrefill {
  /** Tokens read so far, the cached ones included. */
  readonly processed: number;
  /** Tokens of the whole prompt; absent where nobody knows. */
  readonly total?: number;
  /** The server does not tell the total: it is taken to be the prompt that was estimated here. */
  readonly assumed: boolean;
  readonly remaining: Prediction;
  /** Since the prompt was begun, and since the server last told of progress. */
  readonly elapsedSeconds?: number;
  readonly quietSeconds?: number;
}

/** `expected`: tokens of the prompt that was estimated here, for servers that do not tell how long theirs is. */
export function livePrefill(
  seen: { readonly cached: number; readonly total?: number; readonly progress: readonly PrefillProgress[] },
  { curve, expected }: { readonly curve?: DepthCurve | undefined; readonly expected?: number | undefined },
): LivePrefill {
  const processed = seen.progress.at(-1)?.processed ?? seen.cached;
  const guess = expected !== undefined && expected > processed ? expected : undefined;
  const total = seen.total ?? guess;
  const assumed = seen.total === undefined && total !== undefined;
  if (total === undefined) {
    return {
      processed,
      assumed,
      remaining: { known: false, reason: say`The server does not report the length of the prompt.` },
    };
  }
  const remaining = remainingPrefill({ total, cached: seen.cached, progress: seen.progress }, curve);
  return { processed, total, assumed, remaining };
}

/** A prompt that takes so long makes people wonder whether the server is still at work. */
const longSeconds = 20;

/** The line of the panel and the tooltip. */
export function livePrefillText(live: LivePrefill): Text {
  const { elapsedSeconds, quietSeconds } = live;
  const line = progressText(live);
  if (elapsedSeconds === undefined || quietSeconds === undefined || elapsedSeconds < longSeconds) return line;
  return say`${line} It has been reading for ${seconds(elapsedSeconds)}, and last reported progress ${seconds(quietSeconds)} ago.`;
}

function progressText({ processed, total, assumed, remaining }: LivePrefill): Text {
  if (!remaining.known || total === undefined)
    return say`The server is reading a prompt: ${count(processed)} token[s] so far.`;
  const left = say`${seconds(remaining.seconds)} (${seconds(remaining.lowSeconds)} – ${seconds(remaining.highSeconds)})`;
  return assumed
    ? say`The server is reading a prompt: ${count(processed)} token[s] so far. If it is the one estimated here (${count(total)} token[s]), ${left} left.`
    : say`The server is reading a prompt: ${count(processed)} of ${count(total)} token[s], ${left} left.`;
}

/** The same for the status bar. */
export function livePrefillShort({ processed, remaining }: LivePrefill): Text {
  return remaining.known
    ? say`${count(processed)} token[s] read, ≈ ${seconds(remaining.seconds)} left`
    : say`${count(processed)} token[s] read`;
}
