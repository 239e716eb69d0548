import type { Tokenizer } from "../tokens/tokenizer";
import { longestRun } from "./longRuns";
import { countingMayCrash, isExact } from "./tokenCount";

/** Tokens of a text; undefined where the count would not be exact, or the tokenizer may crash on the text. */
export async function countText(
  tokenizer: Tokenizer,
  text: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { identity } = tokenizer;
  if (!isExact(identity) || countingMayCrash(identity, longestRun(new TextEncoder().encode(text)))) {
    return undefined;
  }
  const [counted] = await tokenizer.count([text], signal);
  return counted?.tokens;
}
