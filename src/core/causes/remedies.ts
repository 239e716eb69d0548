import { say, type Text } from "../text";

/** Advice that several causes share. */
export const quantisedCache = say`Quantise the KV cache (-ctk q8_0 -ctv q8_0), which halves it.`;
export const smallerContext = say`Set a smaller -c.`;
export const smallerWeights = say`Use a smaller quantisation of the weights.`;
export const fewerLayers = say`Put fewer layers on the full device (-ngl, -ts), or keep experts in main memory (--n-cpu-moe).`;
export const smallerWindow = say`Use a smaller window for everyday work, and the long one where it is needed.`;
export const longerAnswer = say`Turn thinking off or set a larger answerTokens in a new plan.`;

/** A kind of question that a weaker model can answer. */
export type EasierKind = "line" | "noTwins";

export const easierQuestion = (kind: EasierKind | undefined): readonly Text[] => {
  if (kind === undefined) return [];
  return [
    kind === "line"
      ? say`Ask an easier kind of question in a new plan (question: line under canaries), which only has the model complete each line.`
      : say`Leave the lookalikes out in a new plan (distractors: false under canaries), or ask for fewer canaries.`,
  ];
};
