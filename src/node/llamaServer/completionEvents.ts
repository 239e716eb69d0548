import { Wire } from "../../core/wire";
import type { PrefillProgress } from "../../core/prefill/liveEta";
import type { ServerEvent, StreamLimits } from "./httpEvents";

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

/** Beyond every time that is measured, in milliseconds. */
const most = 1e15;
/** The last event repeats the whole prompt, and a token of it is seldom more than a word. */
const promptBytesPerToken = 64;
/** An event with one token of the answer and its probability, or with the progress of a batch. */
const bytesPerEvent = 4096;

/** What a streamed `/completion` brings at most: an event for each token that is read or written, and few others. */
export function completionLimits(promptTokens: number, answerTokens: number): StreamLimits {
  const events = promptTokens + answerTokens + 1000;
  const eventBytes = 2 ** 20 + promptBytesPerToken * promptTokens;
  return { events, eventBytes, bytes: eventBytes + bytesPerEvent * events };
}

export function progressOf(event: ServerEvent): ReadProgress | undefined {
  return new Wire(event, "event").at("prompt_progress").ifFits((progress) => {
    const processed = progress.at("processed").count(0);
    return {
      processed,
      seconds: progress.at("time_ms").number(0, most) / 1000,
      cached: progress.at("cache").optional((value) => value.count(0)) ?? 0,
      total: progress.at("total").optional((value) => value.count(0)) ?? processed,
    };
  });
}

export function timingsOf(event: ServerEvent): CompletionTimings | undefined {
  return new Wire(event, "event").at("timings").ifFits((timings) => {
    // null where there was nothing to time
    const count = (name: string): number => timings.at(name).optional((value) => value.count(0)) ?? 0;
    const seconds = (name: string): number =>
      (timings.at(name).optional((value) => value.number(0, most)) ?? 0) / 1000;
    return {
      promptTokens: count("prompt_n"),
      promptSeconds: seconds("prompt_ms"),
      generatedTokens: count("predicted_n"),
      generationSeconds: seconds("predicted_ms"),
    };
  });
}

/**
 * Tokens generated per second; undefined where there were too few. llama-server's time begins with the first token, which
 * comes from reading the prompt: n tokens are n - 1 steps (measured on b11669: 16 and 64 tokens then agree).
 */
export function generationSpeedOf({
  generatedTokens,
  generationSeconds,
}: Pick<CompletionTimings, "generatedTokens" | "generationSeconds">): number | undefined {
  return generatedTokens > 1 && generationSeconds > 0 ? (generatedTokens - 1) / generationSeconds : undefined;
}

/** Tokens of the prompt that were in the cache, as the end of an answer says. */
export function cachedOf(event: ServerEvent): number | undefined {
  return new Wire(event, "event").ifFits((its) => its.at("timings").at("cache_n").count(0));
}
