import { valuePlaceholder } from "../prompt/question";
import { plain } from "./readAnswer";
import type { Canary, PlacedCanary } from "../prompt/canaries";

/**
 * `twin`: the value of the easily confused key; `other`: of another entry of the prompt; `invented`: found nowhere in
 * it; `missing`: no value was given.
 */
export type CanaryOutcome = "correct" | "twin" | "other" | "invented" | "missing";

/** Why an answer says nothing about recall. It counts neither as wrong nor as passed. */
export type InvalidReason = "promptTruncated" | "empty" | "reasoningBudget" | "answerCut";

export interface ScoredCanary {
  readonly key: string;
  readonly expected: string;
  readonly answer?: string;
  readonly outcome: CanaryOutcome;
  readonly position: number;
  /** Position as part of the prompt, 0 to 1. */
  readonly depth: number;
  /** "singly": it was missing from the common answer and asked for alone. */
  readonly asked: "together" | "singly";
}

/** Judges one value. `others` are all values that stand in the prompt. */
export function outcomeOf(
  canary: Canary,
  answer: string | undefined,
  others: ReadonlySet<string>,
): CanaryOutcome {
  const value = answer === undefined ? "" : withoutSeparators(plain(answer));
  const words = /\d/.test(canary.value) && !/\d/.test(value);
  if (words || value === valuePlaceholder || /^(null|none|unknown|n\/a|\?+|0*)$/.test(value))
    return "missing";
  if (value === plain(canary.value)) return "correct";
  if (canary.twin !== undefined && value === plain(canary.twin.value)) return "twin";
  return others.has(value) ? "other" : "invented";
}

/** `482,917`, `482 917` and `482.917` are the number, written for people. */
const withoutSeparators = (value: string): string =>
  /^\d[\d\s,._'\u2019]*$/.test(value) ? value.replace(/\D/g, "") : value;

export function scoreCanaries(
  canaries: readonly PlacedCanary[],
  answers: {
    readonly together: ReadonlyMap<string, string>;
    readonly singly: ReadonlyMap<string, string>;
  },
  prompt: { readonly tokens: number; readonly values: ReadonlySet<string> },
): readonly ScoredCanary[] {
  return canaries.map((canary) => {
    const together = answers.together.get(canary.key);
    const singly = answers.singly.get(canary.key);
    const answer = together ?? singly;
    return {
      key: canary.key,
      expected: canary.value,
      ...(answer !== undefined && { answer: answer.slice(0, 80) }),
      outcome: outcomeOf(canary, answer, prompt.values),
      position: canary.position,
      depth: canary.position / prompt.tokens,
      asked: together === undefined && singly !== undefined ? "singly" : "together",
    };
  });
}

/** Whether an answer can be scored at all. */
export function invalidBecause(answer: {
  readonly sentTokens: number;
  readonly evaluatedTokens: number;
  readonly text: string;
  readonly stoppedByLimit: boolean;
  readonly truncated: boolean;
  readonly stillThinking: boolean;
  readonly complete: boolean;
}): InvalidReason | undefined {
  if (answer.evaluatedTokens !== answer.sentTokens || answer.truncated) return "promptTruncated";
  if (answer.stillThinking) return "reasoningBudget";
  if (answer.text.trim() === "") return answer.stoppedByLimit ? "reasoningBudget" : "empty";
  return answer.stoppedByLimit && !answer.complete ? "answerCut" : undefined;
}

/**
 * Why a code answer says nothing about the rules: it was cut off inside its code, or before any. What a model writes
 * behind its whole code block may go on for ever.
 */
export function codeInvalid(answer: {
  /** Without thinking. */
  readonly text: string;
  readonly stillThinking: boolean;
  readonly stoppedByLimit: boolean;
}): InvalidReason | undefined {
  if (answer.stillThinking) return "reasoningBudget";
  if (answer.text.trim() === "") return answer.stoppedByLimit ? "reasoningBudget" : "empty";
  return answer.stoppedByLimit && !/```[^]*\n[^]*```/.test(answer.text) ? "answerCut" : undefined;
}
