import type { AgreementSample } from "./comparison";

/**
 * How far two series of greedy answers to the same prompts agree. Every answer counts up to its first difference: behind
 * it the two models read different texts.
 */
export function agreementOf(
  baseline: readonly (readonly number[])[],
  other: readonly (readonly number[])[],
): AgreementSample {
  let agreed = 0;
  let of = 0;
  baseline.forEach((answer, i) => {
    const second = other[i] ?? [];
    const different = answer.findIndex((token, k) => token !== second[k]);
    agreed += different < 0 ? answer.length : different;
    of += different < 0 ? answer.length : different + 1;
  });
  return { agreed, of };
}
