import { count, percent, say, seconds, tokensPerSecond } from "../text";
import type { Quantity, Text } from "../text";
import type { Prediction } from "./prediction";
import type { PromptKeeping, SecondQuestion } from "./secondQuestion";

/** The verdict line about time; `ageSeconds`: of the probe, where it is known. */
export function predictionText(prediction: Prediction, ageSeconds?: number): Text {
  if (!prediction.known) return prediction.reason;
  const { seconds: middle, lowSeconds, highSeconds, basis } = prediction;
  const generation = generationText(prediction);
  const band = say`≈ ${seconds(middle)} (${seconds(lowSeconds)} – ${seconds(highSeconds)})`;
  const depth = count(basis.deepestDepth);
  const wait =
    ageSeconds === undefined
      ? say`${band}, probed to ${depth} token[s]`
      : say`${band}, probed to ${depth} token[s] ${ageText(ageSeconds)}`;
  return generation === undefined ? wait : say`${wait}; then ${generation}`;
}

/** How fast the answer comes behind the prompt, with the band. */
export function generationText(prediction: Prediction): Text | undefined {
  if (!prediction.known) return undefined;
  const {
    generationTokensPerSecond: speed,
    generationLowTokensPerSecond: low,
    generationHighTokensPerSecond: high,
  } = prediction;
  if (speed === undefined) return undefined;
  return low === undefined || high === undefined
    ? say`${tokensPerSecond(speed)}`
    : say`${tokensPerSecond(speed)} (${tokensPerSecond(low)} – ${tokensPerSecond(high)})`;
}

/** What is odd about the measurement, in one sentence. */
export function oddityText({ basis }: Prediction): Text | undefined {
  if (basis?.warmUp === undefined) return undefined;
  return say`The first tokens cost ${percent(100 * basis.warmUp)} more than deeper ones, which no cache makes them: a warm-up or another program. They are left out.`;
}

/** What another question about the same text costs, and why. */
export function secondQuestionText({ keeping, reread, prediction }: SecondQuestion): Text {
  const what = rereadText(keeping, count(reread.tokens));
  return prediction.known
    ? say`${what}: ≈ ${seconds(prediction.seconds)} (${seconds(prediction.lowSeconds)} – ${seconds(prediction.highSeconds)}).`
    : say`${what}.`;
}

function rereadText({ memory, forgets }: PromptKeeping, again: Quantity): Text {
  if (forgets)
    return say`Another question about the same text reads all ${again} token[s] again: nothing is kept`;
  switch (memory.kind) {
    case "plain":
      return say`Another question about the same text reads ${again} token[s] again`;
    case "slidingWindow":
      return say`Another question about the same text reads ${again} token[s] again (sliding window)`;
    case "recurrent":
      return say`Another question about the same text reads ${again} token[s] again (recurrent state is kept at checkpoints only)`;
  }
}

/** Two clocks of one machine differ by less. */
const aheadSeconds = 120;

/** How long ago something was measured; after a clock was set back, nobody knows. */
function ageText(ageSeconds: number): Text {
  if (ageSeconds < -aheadSeconds) return say`at an unknown time (this clock was set back)`;
  const minutes = Math.round(ageSeconds / 60);
  if (minutes < 2) return say`just now`;
  if (minutes < 100) return say`${count(minutes)} minute[s] ago`;
  const hours = Math.round(ageSeconds / 3600);
  if (hours < 36) return say`${count(hours)} hour[s] ago`;
  return say`${count(Math.round(ageSeconds / 86400))} day[s] ago`;
}
