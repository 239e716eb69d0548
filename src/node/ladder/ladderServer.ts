import { readPrompt, readServerError, readTokens } from "../../core/acceptance/serverReplies";
import { measureTemplate, templateProbe } from "../../core/acceptance/chatTemplate";
import type { PromptFrame } from "../../core/ladder/prompt/compose";
import type { PrefillProgress } from "../../core/prefill/liveEta";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { LlamaServerConnection } from "../llamaServer/llamaServerConnection";
import {
  cachedOf,
  completionLimits,
  progressOf,
  timingsOf,
  type CompletionTimings,
} from "../llamaServer/completionEvents";
import type { ServerEvent } from "../llamaServer/httpEvents";
import { HttpError } from "../llamaServer/httpJson";
import { readReply, ServerSaid } from "../llamaServer/llamaServerErrors";
import { TimeLimitError } from "../waiting/within";
import { withLimit } from "../waiting/withLimit";
import { append } from "../../core/lists";
import { Wire } from "../../core/wire";

export interface LadderServerOptions {
  readonly url: string;
  readonly apiKey?: string;
  readonly model?: string;
}

export interface AnswerRequest {
  readonly prompt: readonly number[];
  readonly answerTokens: number;
  /** false: read from the start, whatever the server still has. */
  readonly useCache: boolean;
  readonly seed: number;
  readonly timeoutSeconds: number;
  /** Asks how sure the model was of each token; slows generation down, so not where its speed is measured. */
  readonly logProbabilities?: boolean;
  readonly onProgress?: (progress: PrefillProgress & { readonly cached: number }) => void;
}

export interface Answer {
  readonly text: string;
  /** Ids of the tokens that were written; empty where the server does not say. */
  readonly ids: readonly number[];
  /** Natural logarithms, one for each id; empty where not asked for or not told. */
  readonly logProbabilities: readonly number[];
  readonly timings: CompletionTimings;
  readonly cached: number;
  readonly stoppedByLimit: boolean;
  readonly truncated: boolean;
  readonly progress: readonly PrefillProgress[];
}

/** How a long request failed, in the server's own words. */
export class AnswerFailed extends Error {
  override readonly name = "AnswerFailed";

  constructor(
    readonly failure: "died" | "timeout" | "tooLong" | "error",
    message: string,
    /** Tokens read until then, where the server reported progress. */
    readonly atTokens: number | undefined,
  ) {
    super(message);
  }
}

const maxAnswerBytes = 16 * 2 ** 20;

/** What the ladder asks of a llama-server beyond counting: token ids, its template, long answers. */
export class LadderServer {
  readonly #connection: LlamaServerConnection;

  constructor(private readonly options: LadderServerOptions) {
    this.#connection = new LlamaServerConnection(options.url, options.apiKey);
  }

  /** Token ids by the server's own vocabulary. Fails with `unsupported` where the server has no `/tokenize`. */
  async tokenize(
    content: string,
    { bos, special }: { readonly bos: boolean; readonly special: boolean },
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    const bytes = Buffer.byteLength(content);
    const call = {
      path: this.#path("/tokenize"),
      body: { content, add_special: bos, parse_special: special, ...this.#model() },
      timeoutSeconds: 60 + bytes / 50_000,
      maxBytes: 2 ** 20 + 8 * bytes,
    };
    const reply = await this.#connection.reply(call, signal);
    if (reply.status === 404 || reply.status === 501) throw lacks(this.options.url, "/tokenize");
    if (reply.status !== 200) throw this.#connection.failed(reply, call.path);
    const ids = readReply(this.options.url, reply.body, readTokens);
    if (ids.length === 0 && content !== "") throw lacks(this.options.url, "/tokenize");
    return ids;
  }

  /** What the chat template puts around one user message. Fails where the template rejects it. */
  async frame(thinking: "off" | "on", signal: AbortSignal): Promise<PromptFrame> {
    const call = {
      path: this.#path("/apply-template"),
      body: {
        messages: [{ role: "user", content: templateProbe }],
        ...(thinking === "off" && { chat_template_kwargs: { enable_thinking: false } }),
        ...this.#model(),
      },
      timeoutSeconds: 30,
    };
    const reply = await this.#connection.reply(call, signal);
    if (reply.status === 404 || reply.status === 501) throw lacks(this.options.url, "/apply-template");
    if (reply.status !== 200) {
      const told = readServerError(reply.body);
      if (told === undefined || reply.status === 401 || reply.status === 503)
        throw this.#connection.failed(reply, call.path);
      throw badTemplate(told.message.slice(0, 300));
    }
    const measured = measureTemplate(readReply(this.options.url, reply.body, readPrompt));
    if (measured.kind === "unusable") {
      throw badTemplate(
        measured.problem === "dropped"
          ? "the message does not appear in the prompt"
          : "the message appears twice",
      );
    }
    return measured.template;
  }

  /**
   * One answer at temperature 0, streamed, so that progress is seen and an abort stops the server.
   * @throws AnswerFailed when the server died, refused, failed or took too long; the signal's reason on abort
   */
  async answer(request: AnswerRequest, signal: AbortSignal): Promise<Answer> {
    const progress: PrefillProgress[] = [];
    const read = (): number | undefined => progress.at(-1)?.processed;
    try {
      if (request.timeoutSeconds <= 0) throw new AnswerFailed("timeout", "no time left", undefined);
      return await withLimit(signal, request.timeoutSeconds * 1000, (both) =>
        this.#stream(request, progress, both),
      );
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof AnswerFailed) throw cause;
      if (cause instanceof TimeLimitError) throw new AnswerFailed("timeout", "no answer in time", read());
      if (cause instanceof UserError) throw failureOf(cause, read());
      throw cause;
    }
  }

  async #stream(request: AnswerRequest, progress: PrefillProgress[], signal: AbortSignal): Promise<Answer> {
    const body = {
      prompt: request.prompt,
      n_predict: request.answerTokens,
      temperature: 0,
      seed: request.seed,
      cache_prompt: request.useCache,
      stream: true,
      return_progress: true,
      return_tokens: true,
      ...(request.logProbabilities === true && { n_probs: 1 }),
      ...this.#model(),
    };
    let text = "";
    const ids: number[] = [];
    const logProbabilities: number[] = [];
    let cached = 0;
    let timings: CompletionTimings | undefined;
    let stoppedByLimit = false;
    let truncated = false;
    const limits = completionLimits(request.prompt.length, request.answerTokens);
    for await (const event of this.#connection.stream("/completion", body, limits, signal)) {
      signal.throwIfAborted();
      const step = progressOf(event);
      if (step !== undefined) {
        cached = step.cached;
        progress.push({ processed: step.processed, seconds: step.seconds });
        request.onProgress?.(step);
        continue;
      }
      if (typeof event["content"] === "string") text += event["content"];
      append(ids, numbersOf(event, "tokens"));
      append(logProbabilities, logProbabilitiesOf(event));
      if (text.length > maxAnswerBytes) throw new AnswerFailed("error", "the answer never ends", undefined);
      if (event["stop"] !== true) continue;
      timings = timingsOf(event) ?? timings;
      stoppedByLimit = event["stop_type"] === "limit";
      truncated = event["truncated"] === true;
      cached = cachedOf(event) ?? cached;
    }
    if (timings === undefined)
      throw new AnswerFailed("died", "the stream ended early", progress.at(-1)?.processed);
    return { text, ids, logProbabilities, timings, cached, stoppedByLimit, truncated, progress };
  }

  #model(): { readonly model?: string } {
    return this.options.model === undefined ? {} : { model: this.options.model };
  }

  #path(endpoint: string): string {
    return this.options.model === undefined ? endpoint : `${endpoint}?autoload=false`;
  }
}

const numbersOf = (event: ServerEvent, key: string): readonly number[] =>
  new Wire(event, "event").at(key).fitting((value) => value.count(0));

/** To four places, which is more than two runs of one build agree to. */
const logProbabilitiesOf = (event: ServerEvent): readonly number[] =>
  new Wire(event, "event")
    .at("completion_probabilities")
    .fitting((token) => Math.round(token.at("logprob").number() * 1e4) / 1e4);

/** In the server's own words where it said any. */
function failureOf(error: UserError, atTokens: number | undefined): AnswerFailed {
  const { cause } = error;
  if (cause instanceof ServerSaid) {
    const { type, message } = cause.error;
    const tooLong =
      type === "exceed_context_size_error" || /exceeds? the available context size/i.test(message);
    return new AnswerFailed(tooLong ? "tooLong" : "error", message.slice(0, 500), atTokens);
  }
  const died = cause instanceof HttpError && cause.failure.kind !== "tooLarge";
  return died
    ? new AnswerFailed("died", "the connection was closed", atTokens)
    : new AnswerFailed("error", error.message, atTokens);
}

function lacks(url: string, endpoint: string): UserError {
  return new UserError(
    "unsupported",
    say`The server at ${url} has no working ${endpoint}: token positions cannot be measured.`,
    say`Use a current llama-server directly, not a proxy.`,
  );
}

function badTemplate(detail: string): UserError {
  return new UserError(
    "unsupported",
    say`The chat template rejects a single user message: ${detail}.`,
    say`Start the server with a working template (--chat-template, --jinja), then begin again.`,
  );
}
