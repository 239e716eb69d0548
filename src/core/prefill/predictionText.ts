import { count, say, seconds, tokensPerSecond } from "../text";
import type { Text } from "../text";
import type { Prediction } from "./prediction";

/** The verdict line about time. */
export function predictionText(prediction: Prediction): Text {
  if (!prediction.known) return prediction.reason;
  const { seconds: middle, lowSeconds, highSeconds, generationTokensPerSecond, basis } = prediction;
  const wait = say`≈ ${seconds(middle)} (${seconds(lowSeconds)} – ${seconds(highSeconds)}), probed to ${count(basis.deepestDepth)} tokens`;
  return generationTokensPerSecond === undefined
    ? wait
    : say`${wait}; then ${tokensPerSecond(generationTokensPerSecond)}`;
}
