/** How the model remembers a prompt; decides what a second question about the same text makes it read again. */
export type PromptMemory =
  /** Keys and values of every token: any prefix can be kept. */
  | { readonly kind: "plain" }
  /** Some layers keep only the last `window` tokens: roll-back is free only within that distance. */
  | { readonly kind: "slidingWindow"; readonly window: number }
  /** Recurrent state that exists only at checkpoints (hybrid and purely recurrent models). */
  | { readonly kind: "recurrent" };

export interface SecondQuestion {
  readonly memory: PromptMemory;
  /** Tokens of the prompt the slot has read. */
  readonly firstPromptTokens: number;
  /** Tokens both prompts start with. */
  readonly sharedTokens: number;
  /** Tokens of the second prompt. */
  readonly promptTokens: number;
  readonly ubatch: number;
  /** Where the last user message of the first prompt starts, if a chat template made one. */
  readonly lastMessageStart?: number;
}

export interface Reread {
  readonly cached: number;
  readonly tokens: number;
}

/**
 * What llama-server reads again (`server-context.cpp`, seen on build 11669): the tokens behind the longest common
 * prefix; with recurrent state the tokens behind the nearest checkpoint, which are made at
 * `prompt end − (4 + ubatch)`, `prompt end − 4` and at the start of the last user message; with a sliding window the
 * prefix only counts while its end is still in the window's cells. At least one token is always read.
 */
export function reread(question: SecondQuestion): Reread {
  const { memory, firstPromptTokens, promptTokens, ubatch } = question;
  const shared = Math.min(question.sharedTokens, firstPromptTokens, promptTokens);
  const from = (cached: number): Reread => {
    const kept = Math.max(0, Math.min(cached, promptTokens - 1));
    return { cached: kept, tokens: promptTokens - kept };
  };
  const checkpoints = [
    firstPromptTokens - 4 - ubatch,
    firstPromptTokens - 4,
    question.lastMessageStart ?? -1,
  ].filter((position) => position > 0 && position <= shared);
  const nearest = Math.max(0, ...checkpoints);
  switch (memory.kind) {
    case "plain":
      return from(shared);
    case "slidingWindow":
      return from(firstPromptTokens - shared <= memory.window + ubatch ? shared : nearest);
    case "recurrent":
      return from(nearest);
  }
}
