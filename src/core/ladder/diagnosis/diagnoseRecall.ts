import { percent, say } from "../../text";
import { causes } from "../../causes/causes";
import { concluded, yesNo, type DiagnosisFacts, type DiagnosisStep } from "./diagnosisStep";

export function forgets(facts: DiagnosisFacts): DiagnosisStep {
  const { promptTokens, trainingContext } = facts;
  if (facts.contextShift === true) return concluded(causes.contextShifted());
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
    return concluded(causes.beyondTraining(promptTokens, trainingContext));
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
    return concluded(
      causes.modelWeak(),
      say`${percent(100 * facts.recallShort)} of a short prompt is recalled.`,
    );
  }
  if (facts.kvQuantised === undefined) {
    return {
      kind: "ask",
      fact: "kvQuantised",
      question: say`Is the KV cache quantised (-ctk, -ctv)?`,
      choices: yesNo,
    };
  }
  if (facts.kvQuantised) return concluded(causes.quantisedCache());
  return concluded(
    causes.modelForgets(),
    ...(facts.lostInMiddle === true ? [say`What is in the middle of a long prompt is forgotten.`] : []),
    ...(facts.recallLong === undefined
      ? []
      : [say`${percent(100 * facts.recallShort)} short, ${percent(100 * facts.recallLong)} long.`]),
  );
}
