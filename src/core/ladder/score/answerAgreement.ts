import type { LadderRecord, LadderStep } from "./record";
import { latest } from "./steps";
import { largest } from "../../lists";

/**
 * How far two setups agree in what they write after the same prompts, beyond recall: a broken KV cache type shows here
 * first, while every fact is still recalled.
 */
export interface AnswerAgreement {
  /** Pairs of answers to the same prompt; `same` of them are equal to the end. */
  readonly answers: number;
  readonly same: number;
  /** What is equal before the first difference. Characters where the server gave no token ids. */
  readonly unit: "tokens" | "characters";
  readonly byLength: readonly LengthAgreement[];
  /** Natural logarithms over the tokens both wrote alike; absent where the server gave none. */
  readonly logProbability?: {
    readonly tokens: number;
    readonly meanAbsoluteChange: number;
    readonly largestChange: number;
  };
}

export interface LengthAgreement {
  /** Length of the prompt. */
  readonly tokens: number;
  readonly agreed: number;
  readonly of: number;
}

/** undefined where no prompt was answered in both. Needs the same plan, so that the prompts are the same. */
export function answerAgreement(first: LadderRecord, other: LadderRecord): AnswerAgreement | undefined {
  const others = latest(other.steps);
  const pairs = latest(first.steps).flatMap((step) => {
    const same = others.find(
      (s) => s.tokens === step.tokens && s.run === step.run && s.purpose === step.purpose,
    );
    return same === undefined ? [] : [[step, same] as const];
  });
  const unit = pairs.some(([a, b]) => a.answerIds && b.answerIds) ? "tokens" : "characters";
  const compared = pairs.flatMap(([a, b]) =>
    answersOf(a, unit).flatMap((one, i) => {
      const its = answersOf(b, unit)[i];
      if (one === undefined || its === undefined) return [];
      const of = Math.max(one.length, its.length);
      return of === 0 ? [] : [{ tokens: a.tokens, agreed: equalBeginning(one, its), of }];
    }),
  );
  if (compared.length === 0) return undefined;
  const changes = pairs.flatMap(([a, b]) => logProbabilityChanges(a, b));
  const sum = (of: "agreed" | "of", tokens: number): number =>
    compared.filter((pair) => pair.tokens === tokens).reduce((total, pair) => total + pair[of], 0);
  return {
    answers: compared.length,
    same: compared.filter(({ agreed, of }) => agreed === of).length,
    unit,
    byLength: [...new Set(compared.map(({ tokens }) => tokens))]
      .toSorted((a, b) => a - b)
      .map((tokens) => ({ tokens, agreed: sum("agreed", tokens), of: sum("of", tokens) })),
    ...(changes.length > 0 && {
      logProbability: {
        tokens: changes.length,
        meanAbsoluteChange: changes.reduce((total, change) => total + change, 0) / changes.length,
        largestChange: largest(changes),
      },
    }),
  };
}

/** Mean log-probability of the tokens of the code answers: how sure the model still is at this length. */
export function certaintyOf(
  steps: readonly LadderStep[],
): { readonly meanLogProbability: number; readonly tokens: number } | undefined {
  const all = steps.flatMap((step) => step.constraintLogProbabilities ?? []);
  return all.length === 0
    ? undefined
    : { meanLogProbability: all.reduce((total, one) => total + one, 0) / all.length, tokens: all.length };
}

function answersOf(
  step: LadderStep,
  unit: AnswerAgreement["unit"],
): readonly (ArrayLike<unknown> | undefined)[] {
  return unit === "tokens" ? [step.answerIds, step.constraintIds] : [step.answer, step.constraintAnswer];
}

function equalBeginning(one: ArrayLike<unknown>, other: ArrayLike<unknown>): number {
  const length = Math.min(one.length, other.length);
  let equal = 0;
  while (equal < length && one[equal] === other[equal]) equal++;
  return equal;
}

/** Only before the first difference did both stand before the same text. */
function logProbabilityChanges(a: LadderStep, b: LadderStep): readonly number[] {
  const { constraintIds: one = [], constraintLogProbabilities: before = [] } = a;
  const { constraintIds: other = [], constraintLogProbabilities: after = [] } = b;
  return Array.from({ length: equalBeginning(one, other) }, (_, i) => [before[i], after[i]] as const).flatMap(
    ([x, y]) => (x === undefined || y === undefined ? [] : [Math.abs(x - y)]),
  );
}
