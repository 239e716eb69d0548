import { failureText, invalidText } from "../../core/ladder/score/judgeLadder";
import type { StepPurpose } from "../../core/ladder/score/record";
import { peaksOf, type RungResult } from "../../core/ladder/score/results";
import { bytes, count, percent, say, seconds, tokensPerSecond, type Text } from "../../core/text";

/** Sentences about one rung, the same in picture and table. */
export function purposeText(purpose: StepPurpose): Text {
  switch (purpose) {
    case "base":
      return say`base score`;
    case "curve":
      return say`intermediate`;
    case "target":
    case "confirmation":
      return say`target`;
  }
}

export const recallShare = (share: number): Text => say`${percent(100 * share)} recalled`;

/** The whole prompt read cold; where every run grew on a shorter one, what was added. */
export function readingText({ prefillSeconds, steps }: RungResult): Text | undefined {
  if (prefillSeconds !== undefined) return say`${seconds(prefillSeconds)}`;
  const grown = steps.find((step) => step.mode === "grown" && step.prefillSeconds !== undefined);
  return grown?.prefillSeconds === undefined
    ? undefined
    : say`+${seconds(grown.prefillSeconds)} on ${count(grown.cachedTokens ?? 0)}`;
}

export const writingText = ({ generationTokensPerSecond: speed }: RungResult): Text | undefined =>
  speed === undefined ? undefined : say`${tokensPerSecond(speed)}`;

/** The device (or the host) that came nearest to being full. */
export function freeText({ steps }: RungResult): Text | undefined {
  const peaks = peaksOf(steps);
  const devices = peaks.filter(({ name }) => name !== "Host");
  const least = (devices.length > 0 ? devices : peaks).toSorted(
    (a, b) => a.leastFreeBytes / (a.totalBytes ?? Infinity) - b.leastFreeBytes / (b.totalBytes ?? Infinity),
  )[0];
  return least && say`${bytes(least.leastFreeBytes)} on ${least.name}`;
}

/** The worst of what the watch said during the runs of this length. */
export function machineText({ steps }: RungResult): Text {
  const verdicts = new Set(steps.map(({ monitor }) => monitor?.verdict ?? "unmonitored"));
  if (verdicts.has("contaminated")) return say`disturbed`;
  if (verdicts.has("drift")) return say`drifting`;
  return verdicts.has("unmonitored") ? say`not monitored` : say`quiet`;
}

export function troubleText({ steps }: RungResult): Text | undefined {
  const failure = steps.find((step) => step.failure !== undefined)?.failure;
  if (failure !== undefined) return failureText(failure.kind);
  const invalid = steps.find((step) => step.invalid !== undefined)?.invalid;
  return invalid && invalidText(invalid);
}

/** Mean natural logarithm of the probability of each token of the code answer. */
export const certaintyText = ({ certainty }: RungResult): string =>
  certainty === undefined ? "" : certainty.meanLogProbability.toFixed(3);
