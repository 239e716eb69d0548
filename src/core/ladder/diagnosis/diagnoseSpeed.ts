import { percent, say, seconds } from "../../text";
import { concluded, yesNo, type DiagnosisFacts, type DiagnosisStep } from "./diagnosisStep";

export function slow(facts: DiagnosisFacts): DiagnosisStep {
  if (facts.disturbed === true) return concluded("otherLoad");
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
  if (slowdown < 1.5 && facts.offloaded) {
    return {
      kind: "conclusion",
      cause: "offload",
      change: "placement",
      sentence: say`It is slow from the first token: the cause is the part on the CPU, not the length.`,
      evidence: [say`At this depth it is ${percent(100 * (slowdown - 1))} slower than at the beginning.`],
      actions: [
        say`Move more of it to the GPU: smaller weights or a different placement, one change at a time.`,
      ],
    };
  }
  return {
    kind: "conclusion",
    cause: "attentionCost",
    change: "length",
    sentence:
      facts.prefillSeconds === undefined
        ? say`The deeper a token is in the prompt, the more it costs: the cause is the length, not a fault.`
        : say`The deeper a token is in the prompt, the more it costs: ${seconds(facts.prefillSeconds)} is what this length costs here.`,
    evidence: [say`At this depth it is ${percent(100 * (slowdown - 1))} slower than at the beginning.`],
    actions: [
      say`Use a smaller window for everyday work, and keep the beginning of the prompt unchanged so that the cache is used.`,
      say`Try another backend, ubatch (-ub) or flash attention, one at a time.`,
    ],
  };
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
  if (facts.disturbed) return concluded("otherLoad");
  const margin = concluded("noMargin");
  return facts.sameTokenCount === false ? margin : { ...margin, cause: "unclear" };
}
