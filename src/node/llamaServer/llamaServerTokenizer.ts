import { readTokens } from "../../core/acceptance/serverReplies";
import type { Tokenizer } from "../../core/tokens/tokenizer";
import type { CountedText, TokenizerIdentity } from "../../core/tokens/tokenCount";
import type { LlamaServerConnection } from "./llamaServerConnection";
import { asleep, noTokens, tooSlowToCount } from "./llamaServerErrors";
import { planBatches, type Batch } from "./llamaServerBatches";
import { withAny } from "../../core/signals";
import { TimeLimitError } from "../waiting/within";
import { withLimit } from "../waiting/withLimit";

/** Stands between the texts of a batch: llama-server returns ids as they are, and no text can make this one. */
const separator = -1;

const requestsInFlight = 3;

export interface ServerTokenizerOptions {
  readonly identity: TokenizerIdentity;
  /** The router's model, where there is a router. */
  readonly model?: string;
}

/** Counts by the server's own `/tokenize`: exact for its model and its build. */
export class LlamaServerTokenizer implements Tokenizer {
  readonly identity: TokenizerIdentity;
  readonly #model: string | undefined;

  constructor(
    private readonly connection: LlamaServerConnection,
    options: ServerTokenizerOptions,
  ) {
    this.identity = options.identity;
    this.#model = options.model;
  }

  async count(texts: readonly string[], signal: AbortSignal): Promise<readonly CountedText[]> {
    const counts = new Array<number>(texts.length).fill(0);
    const batches = planBatches(texts);
    const stop = new AbortController();
    const worker = async (both: AbortSignal): Promise<void> => {
      for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
        const tokens = await this.#countBatch(batch, both);
        batch.items.forEach((item, i) => (counts[item.index] = tokens[i] ?? 0));
      }
    };
    try {
      await withAny([signal, stop.signal], (both) =>
        Promise.all(Array.from({ length: requestsInFlight }, () => worker(both))),
      );
    } catch (cause) {
      stop.abort(cause);
      signal.throwIfAborted();
      throw cause;
    }
    return counts.map((tokens) => ({ tokens }));
  }

  async countPrompt(prompt: string, signal: AbortSignal): Promise<number> {
    const ids = await this.#tokenize(wellFormed(prompt), Buffer.byteLength(prompt), true, signal);
    return this.#counted(prompt, ids.length);
  }

  /** Token ids, as the server gives them. */
  async encode(
    text: string,
    flags: { readonly addSpecial: boolean; readonly parseSpecial: boolean },
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    const { addSpecial, parseSpecial } = flags;
    return this.#tokenize(wellFormed(text), Buffer.byteLength(text), addSpecial, signal, parseSpecial);
  }

  /** Tokens of each text, in one request; one by one where the reply cannot be taken apart. */
  async #countBatch(batch: Batch, signal: AbortSignal): Promise<readonly number[]> {
    const texts = batch.items.map((item) => wellFormed(item.text));
    const [only, ...others] = texts;
    if (only !== undefined && others.length === 0) {
      return [this.#counted(only, (await this.#tokenize(only, batch.bytes, false, signal)).length)];
    }
    const content = texts.flatMap((text, i) => (i === 0 ? [text] : [separator, text]));
    const counts = runLengths(await this.#tokenize(content, batch.bytes, false, signal));
    if (counts.length === texts.length) {
      return counts.map((tokens, i) => this.#counted(texts[i] ?? "", tokens));
    }
    // all of them together may take no longer than twice what one request may
    const limit = 2000 * timeLimit(batch.bytes);
    return withLimit(signal, limit, async (both) => {
      const singly: number[] = [];
      for (const [i, text] of texts.entries()) {
        const bytes = batch.items[i]?.bytes ?? 0;
        singly.push(this.#counted(text, (await this.#tokenize(text, bytes, false, both)).length));
      }
      return singly;
    }).catch((cause: unknown) => {
      throw cause instanceof TimeLimitError
        ? tooSlowToCount(this.connection.url, limit / 1000, cause)
        : cause;
    });
  }

  /** A letter or digit is at least one token in every vocabulary; a server without one answers an empty list. */
  #counted(text: string, tokens: number): number {
    if (tokens > 0 || !/[\p{L}\p{N}]/u.test(text)) return tokens;
    throw noTokens(this.connection.url);
  }

  async #tokenize(
    content: string | readonly (string | number)[],
    bytes: number,
    addSpecial: boolean,
    signal: AbortSignal,
    parseSpecial = true,
  ): Promise<readonly number[]> {
    return this.connection.ask(
      {
        path: this.#model === undefined ? "/tokenize" : "/tokenize?autoload=false",
        body: {
          content,
          add_special: addSpecial,
          parse_special: parseSpecial,
          ...(this.#model !== undefined && { model: this.#model }),
        },
        timeoutSeconds: timeLimit(bytes),
        // every byte a token, with an id of six digits and a comma; separators
        maxBytes: 2 ** 20 + 8 * bytes,
        doing: "counting",
      },
      readTokens,
      signal,
    );
  }
}

/** Lengths of the runs between separators. */
function runLengths(ids: readonly number[]): number[] {
  const lengths: number[] = [];
  let start = 0;
  for (let end = ids.indexOf(separator); end >= 0; end = ids.indexOf(separator, start)) {
    lengths.push(end - start);
    start = end + 1;
  }
  lengths.push(ids.length - start);
  return lengths;
}

/** Seconds: llama.cpp tokenises about 0.5 MB/s at worst, ten times slower is still no failure. */
function timeLimit(bytes: number): number {
  return Math.min(290, 30 + bytes / 50_000);
}

/** JSON cannot carry a lone surrogate to llama-server, nor can UTF-8: it is sent as U+FFFD, as any encoder would. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}

/** A tokenizer of a sleeping server: counting would wake it, which nobody asked for. */
export class SleepingTokenizer implements Tokenizer {
  constructor(
    readonly identity: TokenizerIdentity,
    private readonly url: string,
  ) {}

  count(): Promise<never> {
    return Promise.reject(asleep(this.url));
  }

  countPrompt(): Promise<never> {
    return Promise.reject(asleep(this.url));
  }
}
