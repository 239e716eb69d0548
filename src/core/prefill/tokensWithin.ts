import type { Text } from "../text";
import type { DepthCurve } from "./depthCurve";
import { predict } from "./predict";

/** How many tokens a prompt may have whose first token is to come in time. */
export type TokensWithin =
  ({ readonly known: true } & TokensInTime) | { readonly known: false; readonly reason: Text };

export interface TokensInTime {
  readonly tokens: number;
  /** So many come in time nine times in ten, and so many one time in ten. */
  readonly lowTokens: number;
  readonly highTokens: number;
  /** The curve ends before the time does: it may be more. */
  readonly atLeast: boolean;
}

/** No context is larger. */
const mostTokens = 2 ** 27;

export function tokensWithin(
  curve: DepthCurve,
  { seconds, cached = 0 }: { readonly seconds: number; readonly cached?: number },
): TokensWithin {
  const predicted = (tokens: number): ReturnType<typeof predict> => predict(curve, { tokens, cached });
  const reach = largestThat((tokens) => predicted(tokens).known);
  const first = predicted(Math.max(1, reach));
  if (!first.known) return { known: false, reason: first.reason };
  const until = (end: "seconds" | "lowSeconds" | "highSeconds"): number =>
    largestThat((tokens) => {
      const found = predicted(tokens);
      return found.known && found[end] <= seconds;
    });
  const tokens = until("seconds");
  return {
    known: true,
    tokens,
    lowTokens: until("highSeconds"),
    highTokens: until("lowSeconds"),
    atLeast: tokens >= reach,
  };
}

/** The largest number of tokens that passes, where every smaller one does, too; 0 where none does. */
function largestThat(passes: (tokens: number) => boolean): number {
  let low = 0;
  let high = 1;
  while (high < mostTokens && passes(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (passes(middle)) low = middle;
    else high = middle;
  }
  return low;
}
