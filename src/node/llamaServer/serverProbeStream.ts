import http from "node:http";
import type { IncomingMessage } from "node:http";
import https from "node:https";
import { say, seconds } from "../../core/text";
import { UserError } from "../../core/userError";
import type { PrefillProgress } from "../../core/prefill/liveEta";

export interface StreamedRequest {
  readonly url: string;
  readonly apiKey?: string;
  /** Tokens of the prompt: exactly what is read, whatever the template. */
  readonly prompt: readonly number[];
  readonly generatedTokens: number;
  /** Which of a router's models. */
  readonly model?: string;
  readonly timeoutSeconds: number;
  readonly onProgress?: (
    progress: PrefillProgress & { readonly cached: number; readonly total: number },
  ) => void;
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

/** `timings` of a reply, in seconds. */
export interface CompletionTimings {
  readonly promptTokens: number;
  readonly promptSeconds: number;
  readonly generatedTokens: number;
  readonly generationSeconds: number;
}

const maxEventBytes = 1_000_000;

/**
 * One streamed `/completion` with `return_progress`, without the prompt cache. An abort closes the stream, which makes
 * the server stop; what was seen until then comes back. Fails with `UserError` when there was no answer at all.
 */
export async function streamCompletion(
  request: StreamedRequest,
  signal: AbortSignal,
): Promise<StreamedAnswer> {
  const stop = new AbortController();
  const timer = setTimeout(() => {
    stop.abort();
  }, request.timeoutSeconds * 1000);
  const abort = (): void => {
    stop.abort();
  };
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) stop.abort();
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
  try {
    const response = await openStream(
      new URL(`${request.url}/completion`),
      {
        prompt: request.prompt,
        n_predict: request.generatedTokens,
        temperature: 0,
        ignore_eos: true,
        cache_prompt: false,
        stream: true,
        return_progress: true,
        ...(request.model !== undefined && { model: request.model }),
      },
      request.apiKey,
      stop.signal,
    );
    if (response.statusCode !== 200) throw await refusal(request.url, response);
    for await (const event of serverEvents(response)) {
      if (event["error"] !== undefined) {
        throw new UserError(
          "outsideFailed",
          say`llama-server stopped the probe: ${JSON.stringify(event["error"]).slice(0, 300)}`,
          say`Check its log for the cause.`,
        );
      }
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
  } catch (cause) {
    if (stop.signal.aborted) return answer("aborted");
    if (cause instanceof UserError) throw cause;
    if (progress.length > 0) return answer("disconnected");
    throw new UserError(
      "refused",
      say`No server responds at ${request.url}.`,
      say`Start llama-server, or choose the address it listens on.`,
      { cause },
    );
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    stop.abort();
  }
}

/**
 * A connection of its own for every stream: a pooled one may just be closing (llama-server ends idle ones after 5 s), and
 * fetch gives up on a body that is silent for five minutes, which one batch on a slow machine can be.
 */
function openStream(
  url: URL,
  body: unknown,
  apiKey: string | undefined,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === "https:" ? https : http).request(
      url,
      {
        method: "POST",
        agent: false,
        signal,
        headers: {
          "content-type": "application/json",
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        },
      },
      resolve,
    );
    request.on("error", reject);
    request.end(JSON.stringify(body));
  });
}

async function refusal(url: string, response: IncomingMessage): Promise<UserError> {
  const status = response.statusCode ?? 0;
  const text = await beginning(response);
  if (status === 401 || status === 403) {
    return new UserError("unauthorized", say`llama-server at ${url} needs an API key.`, say`Enter the key.`);
  }
  if (status === 503) {
    return new UserError("loading", say`llama-server at ${url} is loading its model.`, say`Try again soon.`);
  }
  return new UserError(
    "outsideFailed",
    say`llama-server at ${url} rejected the probe (${String(status)}): ${text}`,
    say`Check its log for the cause.`,
  );
}

async function beginning(response: IncomingMessage): Promise<string> {
  let text = "";
  try {
    for await (const chunk of response) {
      text += String(chunk);
      if (text.length > 300) break;
    }
  } catch {
    // what was read until then will do
  }
  return text.slice(0, 300);
}

/** The JSON of every `data:` line; comments and `[DONE]` are passed over. */
export async function* serverEvents(
  body: AsyncIterable<unknown>,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    rest += decoder.decode(chunk as Uint8Array, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > maxEventBytes) {
      throw new UserError(
        "badOutput",
        say`The server sent an event larger than any of llama-server's.`,
        say`Check that the address belongs to llama-server.`,
      );
    }
    for (const line of lines) {
      const match = /^data:\s*(\{.*\})\s*$/.exec(line);
      if (match === null) continue;
      try {
        yield JSON.parse(match[1] ?? "") as Readonly<Record<string, unknown>>;
      } catch {
        // a torn event says nothing
      }
    }
  }
}

export function progressOf(
  event: Readonly<Record<string, unknown>>,
): (PrefillProgress & { readonly cached: number; readonly total: number }) | undefined {
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

export function timingsOf(event: Readonly<Record<string, unknown>>): CompletionTimings | undefined {
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

export function tooSlow(budgetSeconds: number): UserError {
  return new UserError(
    "tooLarge",
    say`In ${seconds(budgetSeconds)} this server reads too few tokens to show how prefill slows down with depth.`,
    say`Allow the probe more time.`,
  );
}
