import type { PrefillProgress } from "../../core/prefill/liveEta";
import type { ServerEvent } from "./httpEvents";

export interface ReadProgress extends PrefillProgress {
  readonly cached: number;
  readonly total: number;
}

/** `timings` of a reply, in seconds. */
export interface CompletionTimings {
  readonly promptTokens: number;
  readonly promptSeconds: number;
  readonly generatedTokens: number;
  readonly generationSeconds: number;
}

export function progressOf(event: ServerEvent): ReadProgress | undefined {
  const field = event["prompt_progress"];
  if (typeof field !== "object" || field === null) return undefined;
  const { processed, cache, total, time_ms: ms } = field as Readonly<Record<string, unknown>>;
  if (typeof processed !== "number" || typeof ms !== "number" || !Number.isFinite(ms) || ms < 0)
    return undefined;
  return {
    processed,
    seconds: ms / 1000,
    cached: typeof cache === "number" ? cache : 0,
    total: typeof total === "number" ? total : processed,
  };
}

export function timingsOf(event: ServerEvent): CompletionTimings | undefined {
  const field = event["timings"];
  if (typeof field !== "object" || field === null) return undefined;
  const timings = field as Readonly<Record<string, unknown>>;
  const number = (name: string): number => {
    const value = timings[name];
    return typeof value === "number" && Number.isFinite(value) ? value : 0;
  };
  return {
    promptTokens: number("prompt_n"),
    promptSeconds: number("prompt_ms") / 1000,
    generatedTokens: number("predicted_n"),
    generationSeconds: number("predicted_ms") / 1000,
  };
}
