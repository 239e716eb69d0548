import { causes } from "../../causes/causes";
import { percent, say } from "../../text";
import { concluded, yesNo, type DiagnosisFacts, type DiagnosisStep } from "./diagnosisStep";

export function slow(facts: DiagnosisFacts): DiagnosisStep {
  if (facts.disturbed === true) return concluded(causes.otherLoad());
  if (facts.offloaded === undefined) {
    return {
      kind: "ask",
      fact: "offloaded",
      question: say`Does part of the model run on the CPU (-ngl, -ncmoe, or more than fits on the GPU)?`,
      choices: yesNo,
    };
  }
  if (facts.slowdown === undefined) {
    return {
      kind: "ask",
      fact: "slowdown",
      question: say`How many times slower is it at this depth than at the beginning? The probe measures this.`,
      choices: [],
      number: "share",
    };
  }
  const { slowdown } = facts;
  return concluded(
    slowdown < 1.5 && facts.offloaded ? causes.offload() : causes.attentionCost(facts.prefillSeconds),
    say`At this depth it is ${percent(100 * (slowdown - 1))} slower than at the beginning.`,
  );
}

export function sometimes(facts: DiagnosisFacts): DiagnosisStep {
  if (facts.disturbed === undefined) {
    return {
      kind: "ask",
      fact: "disturbed",
      question: say`Do other programs use the machine or the server at the same time?`,
      choices: yesNo,
    };
  }
  if (facts.disturbed) return concluded(causes.otherLoad());
  const margin = concluded(causes.noMargin());
  return facts.sameTokenCount === false ? margin : { ...margin, cause: "unclear" };
}
