import { count, percent, say } from "../../text";
import { yesNo, type DiagnosisFacts, type DiagnosisStep } from "./diagnosisStep";

export function forgets(facts: DiagnosisFacts): DiagnosisStep {
  const { promptTokens, trainingContext } = facts;
  if (facts.contextShift === true) {
    return {
      kind: "conclusion",
      cause: "contextShifted",
      change: "plan",
      sentence: say`Context shift is on: when the context is full the server throws the beginning away.`,
      evidence: [],
      actions: [say`Start the server without --context-shift and with room for the answer.`],
    };
  }
  if (promptTokens === undefined) {
    return {
      kind: "ask",
      fact: "promptTokens",
      question: say`How many tokens has the prompt?`,
      choices: [],
      number: "tokens",
    };
  }
  if (trainingContext !== undefined && promptTokens > trainingContext && facts.ropeScaled !== true) {
    return {
      kind: "conclusion",
      cause: "beyondTraining",
      change: "length",
      sentence: say`The prompt has ${count(promptTokens)} tokens and the model was trained with ${count(trainingContext)}: positions beyond are strange to it.`,
      evidence: [],
      actions: [say`Stay below, or use the scaling its makers name (YaRN).`],
    };
  }
  if (facts.recallShort === undefined) {
    return {
      kind: "ask",
      fact: "recallShort",
      question: say`What part of the facts does it recall from a short prompt? The ladder's base score says it.`,
      choices: [],
      number: "share",
    };
  }
  if (facts.recallShort < 0.85) {
    return {
      kind: "conclusion",
      cause: "modelWeak",
      change: "weights",
      sentence: say`It recalls only ${percent(100 * facts.recallShort)} of a short prompt: length is not the cause.`,
      evidence: [],
      actions: [say`See that template and sampling are right; then compare another model.`],
    };
  }
  if (facts.kvQuantised === undefined) {
    return {
      kind: "ask",
      fact: "kvQuantised",
      question: say`Is the KV cache quantised (-ctk, -ctv)?`,
      choices: yesNo,
    };
  }
  if (facts.kvQuantised) {
    return {
      kind: "conclusion",
      cause: "quantisedCache",
      change: "kvCache",
      sentence: say`With a quantised cache the first thing to rule out is the cache.`,
      evidence: [],
      actions: [say`Run the same ladder with f16 and nothing else changed; compare the two.`],
    };
  }
  return {
    kind: "conclusion",
    cause: "modelForgets",
    change: "length",
    sentence:
      facts.lostInMiddle === true
        ? say`The model itself loses what stands in the middle of long prompts.`
        : say`The model itself does not use such a length well.`,
    evidence:
      facts.recallLong === undefined
        ? []
        : [say`${percent(100 * facts.recallShort)} short, ${percent(100 * facts.recallLong)} long.`],
    actions: [
      say`Take the longest length of the ladder whose recall holds as the limit.`,
      say`Put what matters at the start or the end, and leave out what is not needed.`,
    ],
  };
}
