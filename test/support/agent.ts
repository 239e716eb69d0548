import { postJson } from "./postJson";

/** What an answer says of its own request: `timings.cache_n`, `prompt_n`, `predicted_n`. */
export interface TurnTimings {
  readonly cached: number;
  readonly read: number;
  readonly generated: number;
}

export type Turn =
  TurnTimings | { readonly refused: { readonly promptTokens: number; readonly limit: number } };

/** " is" in the vocabulary of the forged models. */
const plainToken = 374;
const otherToken = 279;

/** Tokens of every forged vocabulary, in an order of their own: two seeds begin alike only if 997 divides their difference. */
export const someTokens = (count: number, seed: number): number[] =>
  Array.from({ length: count }, (_, i) => 300 + ((i * 7919 + seed * 104_729) % 997));

/**
 * A coding agent as a server sees it: every request is the whole conversation so far. Prompts are token ids, so that lengths
 * are exact.
 */
export class Agent {
  prompt: number[];

  constructor(
    private readonly url: string,
    private readonly options: {
      readonly system: readonly number[];
      readonly answer: number;
      /** Tokens at the beginning of each answer that are not sent back. */
      readonly thinking?: number;
      /** The server's API key. */
      readonly key?: string;
    },
  ) {
    this.prompt = [...options.system];
  }

  async turn(question: readonly number[]): Promise<Turn> {
    const { answer, thinking = 0, key } = this.options;
    const { status, body } = await postJson(
      `${this.url}/completion`,
      {
        prompt: [...this.prompt, ...question],
        n_predict: answer,
        temperature: 0,
        ignore_eos: true,
        // a token that is whole text: of others the answer leaves out what is not yet a character
        logit_bias: [[plainToken, 1000]],
        return_tokens: true,
      },
      undefined,
      key === undefined ? {} : { authorization: `Bearer ${key}` },
    );
    if (status !== 200) {
      const { error } = body as {
        readonly error: { readonly n_prompt_tokens: number; readonly n_ctx: number };
      };
      return { refused: { promptTokens: error.n_prompt_tokens, limit: error.n_ctx } };
    }
    const { tokens, timings } = body as {
      readonly tokens: readonly number[];
      readonly timings: { readonly cache_n: number; readonly prompt_n: number; readonly predicted_n: number };
    };
    // the answer behind the thinking is other text than the thinking
    const kept = thinking === 0 ? tokens : tokens.slice(thinking).map(() => otherToken);
    this.prompt = [...this.prompt, ...question, ...kept];
    return { cached: timings.cache_n, read: timings.prompt_n, generated: timings.predicted_n };
  }
}
