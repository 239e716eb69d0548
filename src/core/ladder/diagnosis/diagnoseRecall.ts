import { count, percent, say } from "../../text";
import { adviceOn } from "../../causes";
import { concluded, yesNo, type DiagnosisFacts, type DiagnosisStep } from "./diagnosisStep";

export function forgets(facts: DiagnosisFacts): DiagnosisStep {
  const { promptTokens, trainingContext } = facts;
  if (facts.contextShift === true) {
    return {
      kind: "conclusion",
      cause: "contextShifted",
      change: "plan",
      sentence: say`Context shift is on: when the context is full, the server discards the oldest tokens.`,
      evidence: [],
      actions: [say`Start the server without --context-shift and with room for the answer.`],
    };
  }
  if (promptTokens === undefined) {
    return {
      kind: "ask",
      fact: "promptTokens",
      question: say`How many tokens does the prompt have?`,
      choices: [],
      number: "tokens",
    };
  }
  if (trainingContext !== undefined && promptTokens > trainingContext && facts.ropeScaled !== true) {
    return {
      kind: "conclusion",
      cause: "beyondTraining",
      change: "length",
      sentence: say`The prompt has ${count(promptTokens)} token[s], but the model was trained on ${count(trainingContext)}: it does not know positions beyond that.`,
      evidence: [],
      actions: [say`Stay below it, or use the scaling recommended by the model's makers (YaRN).`],
    };
  }
  if (facts.recallShort === undefined) {
    return {
      kind: "ask",
      fact: "recallShort",
      question: say`What share of the facts does it recall from a short prompt? The ladder's base score shows it.`,
      choices: [],
      number: "share",
    };
  }
  if (facts.recallShort < 0.85) {
    return concluded("modelWeak", say`${percent(100 * facts.recallShort)} of a short prompt is recalled.`);
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
      sentence: say`With a quantised cache, rule out the cache first.`,
      evidence: [],
      actions: [say`Run the same ladder with f16 and no other change, and compare the two.`],
    };
  }
  return {
    ...concluded(
      "modelForgets",
      ...(facts.lostInMiddle === true ? [say`What is in the middle of a long prompt is forgotten.`] : []),
      ...(facts.recallLong === undefined
        ? []
        : [say`${percent(100 * facts.recallShort)} short, ${percent(100 * facts.recallLong)} long.`]),
    ),
    actions: [
      say`Use the longest length of the ladder with sufficient recall as the limit.`,
      ...adviceOn("modelForgets"),
    ],
  };
}
