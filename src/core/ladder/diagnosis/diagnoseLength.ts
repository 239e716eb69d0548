import { count, say } from "../../text";
import { concluded, type DiagnosisFacts, type DiagnosisStep } from "./diagnosisStep";

export function refused(facts: DiagnosisFacts): DiagnosisStep {
  const { promptTokens, nCtxPerSlot } = facts;
  if (nCtxPerSlot === undefined) {
    return {
      kind: "ask",
      fact: "nCtxPerSlot",
      question: say`How much does the server give one request (n_ctx in /props)?`,
      choices: [],
      number: "tokens",
    };
  }
  if (promptTokens === undefined) {
    return {
      kind: "ask",
      fact: "promptTokens",
      question: say`How many tokens does the prompt have, including the chat template?`,
      choices: [],
      number: "tokens",
    };
  }
  if (promptTokens < nCtxPerSlot) {
    return {
      kind: "conclusion",
      cause: "answerRoom",
      change: "length",
      sentence: say`The prompt fits, but leaves only ${count(nCtxPerSlot - promptTokens)} token[s] for the answer.`,
      evidence: [say`${count(promptTokens)} of ${count(nCtxPerSlot)} token[s] belong[s|] to the prompt.`],
      actions: [say`Raise -c or shorten the prompt so that thinking and answer have room.`],
    };
  }
  return concluded(
    "contextTooSmall",
    say`The prompt has ${count(promptTokens)} token[s], and one request may hold ${count(nCtxPerSlot)}.`,
  );
}
