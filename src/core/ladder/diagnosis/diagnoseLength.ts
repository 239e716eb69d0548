import { causes } from "../../causes/causes";
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
    return concluded(
      causes.answerRoom(nCtxPerSlot - promptTokens),
      say`${count(promptTokens)} of ${count(nCtxPerSlot)} token[s] belong[s|] to the prompt.`,
    );
  }
  return concluded(causes.contextTooSmall({ prompt: promptTokens, nCtx: nCtxPerSlot }));
}
