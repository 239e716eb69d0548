import type { PrefillProgress } from "../../core/prefill/liveEta";
import { UserError } from "../../core/userError";
import {
  completionLimits,
  progressOf,
  timingsOf,
  type CompletionTimings,
  type ReadProgress,
} from "./completionEvents";
import { HttpError } from "./httpJson";
import { TimeLimitError } from "../waiting/within";
import { withLimit } from "../waiting/withLimit";
import type { LlamaServerConnection } from "./llamaServerConnection";

export interface StreamedRequest {
  /** Tokens of the prompt: exactly what is read, whatever the template. */
  readonly prompt: readonly number[];
  readonly generatedTokens: number;
  /** Which of a router's models. */
  readonly model?: string;
  readonly timeoutSeconds: number;
  /** Goes on from what the server has read of this prompt before; otherwise all of it is read. */
  readonly cache?: boolean;
  readonly onProgress?: (progress: ReadProgress) => void;
}

export interface StreamedAnswer {
  readonly progress: readonly PrefillProgress[];
  /** Tokens the server took from its cache. */
  readonly cached: number;
  readonly timings?: CompletionTimings;
  /** Seconds until the server's first word, on our clock. */
  readonly wallSeconds: number;
  readonly ended: "finished" | "aborted" | "disconnected";
}

/**
 * One streamed `/completion` with `return_progress`. An abort closes the stream, which makes
 * the server stop; what was seen until then comes back. Fails with `UserError` when there was no answer at all.
 */
export async function streamCompletion(
  connection: LlamaServerConnection,
  request: StreamedRequest,
  signal: AbortSignal,
): Promise<StreamedAnswer> {
  const started = performance.now() / 1000;
  const progress: PrefillProgress[] = [];
  let cached = 0;
  let timings: CompletionTimings | undefined;
  let wallSeconds = 0;
  const answer = (ended: StreamedAnswer["ended"]): StreamedAnswer => ({
    progress,
    cached,
    ...(timings !== undefined && { timings }),
    wallSeconds,
    ended,
  });
  const body = {
    prompt: request.prompt,
    n_predict: request.generatedTokens,
    temperature: 0,
    ignore_eos: true,
    cache_prompt: request.cache === true,
    stream: true,
    return_progress: true,
    ...(request.model !== undefined && { model: request.model }),
  };
  const limits = completionLimits(request.prompt.length, request.generatedTokens);
  const read = async (both: AbortSignal): Promise<StreamedAnswer> => {
    for await (const event of connection.stream("/completion", body, limits, both)) {
      // what comes late, while the end is on its way
      both.throwIfAborted();
      const step = progressOf(event);
      if (step !== undefined) {
        cached = step.cached;
        progress.push(step);
        request.onProgress?.(step);
      } else {
        wallSeconds ||= performance.now() / 1000 - started;
        timings = timingsOf(event) ?? timings;
      }
    }
    return answer(timings === undefined ? "disconnected" : "finished");
  };
  try {
    return await withLimit(signal, request.timeoutSeconds * 1000, read);
  } catch (cause) {
    if (signal.aborted || cause instanceof TimeLimitError) return answer("aborted");
    const lost = cause instanceof UserError && cause.cause instanceof HttpError;
    if (lost && progress.length > 0) return answer("disconnected");
    throw cause;
  }
}
