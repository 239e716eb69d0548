import { count, say, type Text } from "../text";
import type { EstimateProgress } from "./gaugeState";

/** How far counting is, in words. */
export function countingProgressText({ filesDone, tokens }: EstimateProgress): Text {
  if (filesDone === 0) return say`Listing files …`;
  return filesDone === 1
    ? say`${count(tokens)} tokens in 1 file …`
    : say`${count(tokens)} tokens in ${count(filesDone)} files …`;
}
