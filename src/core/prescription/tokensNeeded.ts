import type { AcceptanceReport } from "../acceptance/acceptanceReport";
import type { LaunchChange } from "../launch/launchChange";
import type { LaunchOptions } from "../launch/launchOptions";
import { slotContext } from "../launch/slotContext";
import type { TrainedContext } from "../model/model";

/** Tokens a slot must hold: `enough` for prompt and answer, `least` for the prompt to be taken at all. */
export interface TokensNeeded {
  readonly least: number;
  readonly enough: number;
}

/** An estimated count must fit at its upper end. The server refuses a prompt that fills its slot. */
export function tokensNeeded({
  promptTokens,
  relativeError = 0,
  answerReserve,
}: AcceptanceReport): TokensNeeded {
  const least = Math.ceil(promptTokens * (1 + relativeError)) + 1;
  return { least, enough: Math.max(least, promptTokens + answerReserve) };
}

/** The smallest `-c` that gives a slot so many tokens; undefined where the training context holds it to fewer. */
export function smallestContext(
  tokens: number,
  launch: LaunchOptions,
  trained: TrainedContext,
  build: number | undefined,
): LaunchChange | undefined {
  const slot = slotContext({ ...launch, ctxSize: 256 }, trained, build);
  if (tokens > slot.trainingContext) return undefined;
  const perSlot = Math.ceil(tokens / 256) * 256;
  const held = launch.kvUnifiedPerSlot !== undefined && launch.kvUnifiedPerSlot < tokens;
  return { ctxSize: perSlot * slot.streams, ...(held && { kvUnifiedPerSlot: perSlot }) };
}
