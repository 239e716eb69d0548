import { Wire } from "../../core/wire";
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
  return new Wire(event, "event").at("prompt_progress").ifFits((progress) => {
    const processed = progress.at("processed").number();
    return {
      processed,
      seconds: progress.at("time_ms").number(0) / 1000,
      cached: progress.at("cache").ifFits((value) => value.number()) ?? 0,
      total: progress.at("total").ifFits((value) => value.number()) ?? processed,
    };
  });
}

export function timingsOf(event: ServerEvent): CompletionTimings | undefined {
  return new Wire(event, "event").at("timings").ifFits((timings) => {
    const number = (name: string): number => timings.at(name).ifFits((value) => value.number()) ?? 0;
    return {
      promptTokens: number("prompt_n"),
      promptSeconds: number("prompt_ms") / 1000,
      generatedTokens: number("predicted_n"),
      generationSeconds: number("predicted_ms") / 1000,
    };
  });
}

/** Tokens of the prompt that were in the cache, as the end of an answer says. */
export function cachedOf(event: ServerEvent): number | undefined {
  return new Wire(event, "event").ifFits((its) => its.at("timings").at("cache_n").number());
}
