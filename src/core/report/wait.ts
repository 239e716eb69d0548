import type { AcceptanceReport } from "../acceptance/acceptanceReport";
import { generationCost } from "../prefill/generationSpeed";
import type { DepthCurve } from "../prefill/depthCurve";
import type { Prediction } from "../prefill/prediction";
import { tokensWithin, type TokensInTime } from "../prefill/tokensWithin";
import { count, say, seconds, type Text } from "../text";
import { givingUp, type GivingUp } from "./clientTimeouts";
import type { Timespan } from "./timespan";

/** How long a request takes in all, held against what its user and its client wait. */
export interface Wait {
  /** Seconds the user would wait for the first token; absent: any time. */
  readonly patienceSeconds?: number;
  /** Whether the first token most likely comes later than that; absent where nobody can know. */
  readonly beyondPatience?: boolean;
  /** The longest prompts whose first token comes within that time; absent where nobody can know. */
  readonly within?: TokensInTime;
  /** Generating the answer that room is reserved for; absent where its speed is not known. */
  readonly answer?: Timespan & { readonly tokens: number };
  /** First token and answer together. */
  readonly total?: Timespan;
  /** Who would not wait for it; absent where nobody is known to give up. */
  readonly givingUp?: GivingUp;
}

/** Seconds until people have done something else; also when `fetch` of Node.js gives up. */
export const defaultPatience = 300;

export interface WaitInputs {
  readonly acceptance: Pick<AcceptanceReport, "promptTokens" | "answerReserve" | "answerRoom">;
  readonly prefill: Prediction;
  /** What `prefill` comes from. */
  readonly curve?: DepthCurve;
  /** Seconds; absent or 0: any time. */
  readonly patienceSeconds?: number;
  /** Of the server it is sent to. */
  readonly build?: string;
}

export function waitOf({ acceptance, prefill, curve, patienceSeconds = 0, build }: WaitInputs): Wait {
  const within = curve && patienceSeconds > 0 ? inTime(curve, patienceSeconds) : undefined;
  const patience = patienceSeconds > 0 ? { patienceSeconds, ...(within && { within }) } : {};
  if (!prefill.known) return patience;
  const answer = curve && answerTime(acceptance, curve);
  const total = answer && {
    seconds: prefill.seconds + answer.seconds,
    lowSeconds: prefill.lowSeconds + answer.lowSeconds,
    highSeconds: prefill.highSeconds + answer.highSeconds,
  };
  const leaving = givingUp(prefill, total, build);
  return {
    ...patience,
    ...(patienceSeconds > 0 && { beyondPatience: prefill.seconds > patienceSeconds }),
    ...(answer && { answer }),
    ...(total && { total }),
    ...(leaving && { givingUp: leaving }),
  };
}

/** The last answer for each curve: one prompt is held against many launches. */
const found = new WeakMap<
  DepthCurve,
  { readonly seconds: number; readonly within: TokensInTime | undefined }
>();

function inTime(curve: DepthCurve, seconds: number): TokensInTime | undefined {
  const before = found.get(curve);
  if (before?.seconds === seconds) return before.within;
  const answer = tokensWithin(curve, { seconds });
  const within = answer.known ? withoutKnown(answer) : undefined;
  found.set(curve, { seconds, within });
  return within;
}

const withoutKnown = ({ tokens, lowTokens, highTokens, atLeast }: TokensInTime): TokensInTime => ({
  ...{ tokens, lowTokens, highTokens, atLeast },
});

/** What can be sent within the user's patience, in a sentence. */
export function withinText({ patienceSeconds, within }: Wait): Text | undefined {
  if (patienceSeconds === undefined || within === undefined) return undefined;
  const { tokens, lowTokens, highTokens, atLeast } = within;
  return atLeast
    ? say`In ${seconds(patienceSeconds)} at least ${count(tokens)} token[s] are read; it was measured no further.`
    : say`In ${seconds(patienceSeconds)} about ${count(tokens)} token[s] are read (${count(lowTokens)} – ${count(highTokens)}).`;
}

/** Whether leaving out files gets the first token in time. */
export const isTooLong = ({ within, beyondPatience }: Wait, promptTokens: number): boolean =>
  beyondPatience ?? (within !== undefined && !within.atLeast && promptTokens > within.tokens);

/** A step's cost is linear in depth: the whole answer costs what its middle token costs, times its tokens. */
function answerTime(
  { promptTokens, answerReserve, answerRoom }: WaitInputs["acceptance"],
  curve: DepthCurve,
): Wait["answer"] {
  const tokens = Math.min(answerReserve, answerRoom ?? answerReserve);
  const cost = tokens > 0 ? generationCost(curve, promptTokens + tokens / 2) : undefined;
  if (cost === undefined) return undefined;
  const { secondsPerToken, low, high } = cost;
  return {
    tokens,
    seconds: tokens * secondsPerToken,
    lowSeconds: tokens * low,
    highSeconds: tokens * high,
  };
}

/** What comes after the first token. */
export function totalText({ answer, total }: Wait): Text | undefined {
  if (answer === undefined || total === undefined) return undefined;
  return say`An answer of ${count(answer.tokens)} token[s] takes ${seconds(answer.seconds)} more (${seconds(answer.lowSeconds)} – ${seconds(answer.highSeconds)}), ${seconds(total.seconds)} in all (${seconds(total.lowSeconds)} – ${seconds(total.highSeconds)}).`;
}
