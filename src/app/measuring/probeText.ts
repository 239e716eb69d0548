import { randomInt } from "node:crypto";
import { readTokens } from "../../core/acceptance/serverReplies";
import { saltedText } from "../../core/bench/saltedText";
import { append } from "../../core/lists";
import { noTokens } from "../../node/llamaServer/llamaServerErrors";
import type { LlamaServerConnection } from "../../node/llamaServer/llamaServerConnection";

/** Of a text that is tokenised at once. */
const mostWords = 30_000;
/** No vocabulary has tokens of so many words of ordinary text on average. */
const mostWordsPerToken = 8;

/** Tokens of text nobody has sent before, cut from one long text. */
export class ProbeText {
  readonly #tokens: number[] = [];

  constructor(
    private readonly connection: LlamaServerConnection,
    private readonly server: { readonly url: string; readonly model?: string },
    private readonly signal: AbortSignal,
  ) {}

  /** The beginning of prompts that share no prefix with those of another salt. */
  salt(): Promise<readonly number[]> {
    return this.#tokenize(saltedText(randomInt(2 ** 31), 64));
  }

  async prompt(salt: readonly number[], tokens: number): Promise<readonly number[]> {
    while (this.#tokens.length < tokens) {
      const words = Math.min(tokens - this.#tokens.length + 256, mostWords);
      const more = await this.#tokenize(saltedText(randomInt(2 ** 31), words));
      // or it would be asked without end
      if (more.length * mostWordsPerToken < words) throw noTokens(this.server.url);
      append(this.#tokens, more);
    }
    return [...salt, ...this.#tokens].slice(0, tokens);
  }

  #tokenize(content: string): Promise<readonly number[]> {
    const { model } = this.server;
    return this.connection.ask(
      {
        path: "/tokenize",
        body: { content, add_special: false, ...(model !== undefined && { model }) },
        timeoutSeconds: 30,
        maxBytes: 8 * 2 ** 20,
      },
      readTokens,
      this.signal,
    );
  }
}
