import type { LaunchOptions } from "../launch/launchOptions";
import { pad256 } from "../launch/launchRules";
import type { Model } from "../model/model";
import type { DepthCurve } from "./depthCurve";
import { predict } from "./predict";
import type { Prediction } from "./prediction";
import { largest } from "../lists";

/** How the model remembers a prompt; decides what a second question about the same text makes it read again. */
export type PromptMemory =
  /** Keys and values of every token: any prefix can be kept. */
  | { readonly kind: "plain" }
  /** Some layers keep only the last `window` tokens: roll-back is free only within that distance. */
  | { readonly kind: "slidingWindow"; readonly window: number }
  /** Recurrent state that exists only at checkpoints (hybrid and purely recurrent models). */
  | { readonly kind: "recurrent" };

export interface RepeatedPrompt {
  readonly memory: PromptMemory;
  /** Tokens of the prompt the slot has read. */
  readonly firstPromptTokens: number;
  /** Tokens both prompts start with. */
  readonly sharedTokens: number;
  /** Tokens of the second prompt. */
  readonly promptTokens: number;
  readonly ubatch: number;
}

export interface Reread {
  readonly cached: number;
  readonly tokens: number;
}

/**
 * What llama-server reads again (`server-context.cpp`, seen on build 11669): the tokens behind the longest common
 * prefix; with recurrent state the tokens behind the nearest checkpoint, which are made at
 * `prompt end − (4 + ubatch)` and `prompt end − 4` (and at the start of the last user message, which of one message is the
 * beginning); with a sliding window the prefix only counts while its end is still in the window's cells. At least one token
 * is always read.
 */
export function reread(question: RepeatedPrompt): Reread {
  const { memory, firstPromptTokens, promptTokens, ubatch } = question;
  const shared = Math.min(question.sharedTokens, firstPromptTokens, promptTokens);
  const from = (cached: number): Reread => {
    const kept = Math.max(0, Math.min(cached, promptTokens - 1));
    return { cached: kept, tokens: promptTokens - kept };
  };
  const checkpoints = [firstPromptTokens - 4 - ubatch, firstPromptTokens - 4].filter(
    (position) => position > 0 && position <= shared,
  );
  const nearest = largest(checkpoints, 0);
  switch (memory.kind) {
    case "plain":
      return from(shared);
    case "slidingWindow":
      return from(firstPromptTokens - shared <= freeRollBack(memory.window, ubatch) ? shared : nearest);
    case "recurrent":
      return from(nearest);
  }
}

/**
 * Tokens that a sliding window can be rolled back by: its cache has `pad256(window + ubatch)` cells (`llama-kv-cache-iswa.cpp`),
 * and a whole window must still stand in front of what is read.
 */
export const freeRollBack = (window: number, ubatch: number): number => pad256(window + ubatch) - window;

/** How a server keeps what it has read. */
export interface PromptKeeping {
  readonly memory: PromptMemory;
  readonly ubatch: number;
  /** Nothing is kept: `--no-cache-prompt`, or recurrent state without checkpoints. */
  readonly forgets: boolean;
  /** `--cache-reuse`: pieces of at least so many tokens are moved forward where text before them was left out. */
  readonly reuse?: number;
}

/** The cost of asking something else about the same text. */
export interface SecondQuestion {
  readonly keeping: PromptKeeping;
  /** Tokens the other question is taken to have. */
  readonly questionTokens: number;
  readonly reread: Reread;
  readonly prediction: Prediction;
}

/** A question of a few sentences. */
const usualQuestion = 128;
/** llama-server's default. */
const defaultUbatch = 512;

export function promptKeeping(
  model: Pick<Model, "layers" | "slidingWindow">,
  launch: LaunchOptions,
): PromptKeeping {
  const memory = promptMemoryOf(model, launch);
  const noCheckpoints = memory.kind === "recurrent" && launch.ctxCheckpoints === 0;
  // a cache with a window cannot be shifted, and of recurrent state no piece can be moved
  const reuse = memory.kind === "plain" ? (launch.cacheReuse ?? 0) : 0;
  return {
    memory,
    ...(reuse > 0 && { reuse }),
    ubatch: launch.ubatchSize ?? defaultUbatch,
    forgets: launch.cachePrompt === false || noCheckpoints,
  };
}

function promptMemoryOf(
  { layers, slidingWindow }: Pick<Model, "layers" | "slidingWindow">,
  { swaFull }: LaunchOptions,
): PromptMemory {
  const main = layers.filter(({ mtp }) => !mtp);
  if (main.some(({ kind, state }) => kind === "recurrent" || state !== undefined)) {
    return { kind: "recurrent" };
  }
  const windowed = slidingWindow > 0 && swaFull !== true && main.some(({ kind }) => kind === "swa");
  return windowed ? { kind: "slidingWindow", window: slidingWindow } : { kind: "plain" };
}

/**
 * What it costs to send the same text once more with another question at its end, into the slot that has read it; nothing
 * else was asked in between.
 */
export function secondQuestion(
  keeping: PromptKeeping,
  curve: DepthCurve,
  promptTokens: number,
): SecondQuestion {
  const { memory, ubatch, forgets } = keeping;
  const questionTokens = Math.min(usualQuestion, promptTokens);
  const sharedTokens = promptTokens - questionTokens;
  const again = forgets
    ? { cached: 0, tokens: promptTokens }
    : reread({ memory, firstPromptTokens: promptTokens, sharedTokens, promptTokens, ubatch });
  return { keeping, questionTokens, reread: again, prediction: predict(curve, again) };
}
