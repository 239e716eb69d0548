import type { RequestTiming } from "../prefill/liveTimings";

/** The counters of llama-server's `/metrics` that time prompts; they only grow until it is restarted. */
export interface PromptCounters {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly promptSeconds: number;
  readonly generatedTokens: number;
  readonly generationSeconds: number;
  readonly processing: number;
}

/** Reads the Prometheus text of `/metrics`; undefined where it is not llama-server's. */
export function readMetrics(text: string): PromptCounters | undefined {
  const value = (name: string): number | undefined => {
    const match = new RegExp(`^llamacpp:${name}(?:\\{[^}]*\\})? +([0-9.eE+-]+) *$`, "m").exec(text);
    const number = match === null ? Number.NaN : Number(match[1]);
    return Number.isFinite(number) ? number : undefined;
  };
  const promptTokens = value("prompt_tokens_total");
  const promptSeconds = value("prompt_seconds_total");
  if (promptTokens === undefined || promptSeconds === undefined) return undefined;
  return {
    promptTokens,
    promptSeconds,
    cachedTokens: value("prompt_tokens_cached_total") ?? 0,
    generatedTokens: value("tokens_predicted_total") ?? 0,
    generationSeconds: value("tokens_predicted_seconds_total") ?? 0,
    processing: value("requests_processing") ?? 0,
  };
}

/**
 * The request that was read between two looks. Only where both looks found the server idle and nothing was reset; several
 * requests in between cannot be told from one, so looks have to be closer than prompts.
 */
export function timingBetween(before: PromptCounters, after: PromptCounters): RequestTiming | undefined {
  const tokens = after.promptTokens - before.promptTokens;
  const seconds = after.promptSeconds - before.promptSeconds;
  const cached = after.cachedTokens - before.cachedTokens;
  const idle = before.processing === 0 && after.processing === 0;
  return idle && tokens > 0 && seconds > 0 && cached >= 0 ? { cached, tokens, seconds } : undefined;
}
