import { causes } from "../../causes/causes";
import { count, say } from "../../text";
import type { Text } from "../../text";
import { refused } from "./diagnoseLength";
import { failsAtLength, memory } from "./diagnoseMemory";
import { forgets } from "./diagnoseRecall";
import { slow, sometimes } from "./diagnoseSpeed";
import { concluded, type DiagnosisFacts, type DiagnosisStep, type FactName } from "./diagnosisStep";

/**
 * The next question, or the conclusion once the facts allow one. Every question is asked at most once; one that could
 * not be answered (`unanswered`) ends it with how to find the answer.
 */
export function diagnose(
  facts: DiagnosisFacts,
  unanswered: ReadonlySet<FactName> = new Set(),
): DiagnosisStep {
  const step = next(facts);
  return step.kind === "ask" && unanswered.has(step.fact) ? withoutAnswer(step) : step;
}

function next(facts: DiagnosisFacts): DiagnosisStep {
  const early = fromServer(facts);
  if (early !== undefined) return early;
  const { symptom } = facts;
  if (symptom === undefined) return symptomQuestion;
  switch (symptom) {
    case "failsAtLoad":
      return memory(facts, "load");
    case "failsAtLength":
      return failsAtLength(facts);
    case "refused":
    case "stopsEarly":
      return refused(facts);
    case "slow":
      return slow(facts);
    case "forgets":
      return forgets(facts);
    case "sometimes":
      return sometimes(facts);
  }
}

const withoutAnswer = ({ fact, question }: DiagnosisStep & { readonly kind: "ask" }): DiagnosisStep =>
  concluded(causes.unclear(question, howToLearn(fact)));

function howToLearn(fact: FactName): Text {
  switch (fact) {
    case "freeAfterLoadBytes":
      return say`Start the server with a small -c and check the free memory of each device (nvidia-smi, rocm-smi, or the log's memory breakdown).`;
    case "logSays":
      return say`Start the server with --log-file, let it fail once more and open the log here.`;
    case "promptTokens":
      return say`Estimate the prompt's files first, which counts it in the model's own tokens.`;
    case "slowdown":
      return say`Run a depth probe, which measures how much a token costs at each depth.`;
    case "recallShort":
    case "sameTokenCount":
      return say`Run a ladder, which measures recall at growing lengths and records where it failed.`;
    default:
      return say`Run a ladder while nothing else uses the machine or the server, and keep its record.`;
  }
}

const symptomQuestion: DiagnosisStep = {
  kind: "ask",
  fact: "symptom",
  question: say`What happens with the long prompt?`,
  choices: [
    { value: "failsAtLoad", label: say`The server does not start or runs out of memory while loading` },
    { value: "failsAtLength", label: say`It stops with an error while reading or writing` },
    { value: "refused", label: say`It is rejected as too long` },
    { value: "stopsEarly", label: say`The answer stops after a few words` },
    { value: "slow", label: say`It works but takes far too long` },
    { value: "forgets", label: say`It answers but does not remember the beginning` },
    { value: "sometimes", label: say`The same prompt sometimes works and sometimes does not` },
  ],
};

/** What needs no question: the server says it itself. */
function fromServer(facts: DiagnosisFacts): DiagnosisStep | undefined {
  const { nCtxPerSlot, requestedContext, promptTokens, slots } = facts;
  if (nCtxPerSlot === undefined || facts.symptom === "failsAtLoad" || facts.symptom === "slow")
    return undefined;
  const tooLong = promptTokens !== undefined && promptTokens >= nCtxPerSlot;
  const divided = (slots ?? 1) > 1 && facts.unified === false;
  if (tooLong && divided && promptTokens < nCtxPerSlot * (slots ?? 1)) {
    return concluded(
      causes.contextDivided({ prompt: promptTokens, nCtx: nCtxPerSlot, slots: slots ?? 1 }),
      say`Reported by the server.`,
    );
  }
  if (tooLong && requestedContext !== undefined && requestedContext > promptTokens) {
    return concluded(
      causes.contextReduced(requestedContext, nCtxPerSlot),
      say`The server reports its context.`,
      ...trained(facts),
    );
  }
  return undefined;
}

const trained = ({ trainingContext }: DiagnosisFacts): readonly Text[] =>
  trainingContext === undefined ? [] : [say`The model was trained on ${count(trainingContext)} token[s].`];
