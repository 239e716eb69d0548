import { bytes, count, percent, say, seconds } from "../text";
import type { Text } from "../text";
import type { Variable } from "./nextStep";

/** "Why does my long context fail?": what is known so far; read from server, log and history, or answered. */
export interface DiagnosisFacts {
  readonly symptom?: Symptom;
  /** `n_ctx` of one slot, as the server reports it. */
  readonly nCtxPerSlot?: number;
  /** `-c` as it was asked for. */
  readonly requestedContext?: number;
  readonly slots?: number;
  readonly unified?: boolean;
  readonly contextShift?: boolean;
  readonly trainingContext?: number;
  /** RoPE scaling (YaRN, linear) is on. */
  readonly ropeScaled?: boolean;
  /** Tokens of the prompt that failed. */
  readonly promptTokens?: number;
  /** The last thing the log says went wrong. */
  readonly logSays?: "outOfMemory" | "contextExceeded" | "fitReduced" | "otherError" | "nothing";
  /** Every device when it failed or was fullest. */
  readonly devices?: readonly {
    readonly name: string;
    readonly freeBytes: number;
    readonly totalBytes?: number;
  }[];
  /** Free right after loading, on the fullest device. */
  readonly freeAfterLoadBytes?: number;
  /** Whether it fails at about the same token count every time. */
  readonly sameTokenCount?: boolean;
  readonly prefillSeconds?: number;
  readonly patienceSeconds?: number;
  /** Speed of the first tokens over the speed at the depth in question. */
  readonly slowdown?: number;
  /** Part of the layers runs on the CPU. */
  readonly offloaded?: boolean;
  /** Another program used the machine. */
  readonly disturbed?: boolean;
  /** Recall of a short prompt and of the long one, 0 to 1. */
  readonly recallShort?: number;
  readonly recallLong?: number;
  readonly kvQuantised?: boolean;
  /** Facts are lost in the middle but not at the ends. */
  readonly lostInMiddle?: boolean;
}

export type Symptom =
  "failsAtLoad" | "failsAtLength" | "refused" | "slow" | "forgets" | "sometimes" | "stopsEarly";

export type FactName = Exclude<keyof DiagnosisFacts, "devices">;

export type DiagnosisStep =
  | {
      readonly kind: "ask";
      readonly fact: FactName;
      readonly question: Text;
      readonly choices: readonly { readonly value: string | boolean; readonly label: Text }[];
      /** The fact is a number, not a choice. */
      readonly number?: "tokens" | "seconds" | "share" | "bytes";
    }
  | {
      readonly kind: "conclusion";
      readonly cause: DiagnosisCause;
      readonly change: Variable;
      readonly sentence: Text;
      readonly evidence: readonly Text[];
      readonly actions: readonly Text[];
    };

export type DiagnosisCause =
  | "contextDivided"
  | "contextReduced"
  | "contextTooSmall"
  | "contextShifted"
  | "weightsFill"
  | "cacheFills"
  | "oneDeviceFull"
  | "cacheOrBackend"
  | "answerRoom"
  | "attentionCost"
  | "offload"
  | "otherLoad"
  | "beyondTraining"
  | "quantisedCache"
  | "modelForgets"
  | "modelWeak"
  | "noMargin"
  | "unclear";

/** The next question, or the conclusion once the facts allow one. Every question is asked at most once. */
export function diagnose(facts: DiagnosisFacts): DiagnosisStep {
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

const symptomQuestion: DiagnosisStep = {
  kind: "ask",
  fact: "symptom",
  question: say`What happens with the long prompt?`,
  choices: [
    { value: "failsAtLoad", label: say`The server does not start or runs out of memory while loading` },
    { value: "failsAtLength", label: say`It breaks off with an error while it reads or writes` },
    { value: "refused", label: say`It is refused as too long` },
    { value: "stopsEarly", label: say`The answer stops after a few words` },
    { value: "slow", label: say`It works but takes far too long` },
    { value: "forgets", label: say`It answers but does not know the beginning` },
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
    return {
      kind: "conclusion",
      cause: "contextDivided",
      change: "length",
      sentence: say`The context is divided: each of ${count(slots ?? 1)} slots has ${count(nCtxPerSlot)} tokens, and the prompt has ${count(promptTokens)}.`,
      evidence: [say`The server reports it.`],
      actions: [say`Start the server with -np 1, or with --kv-unified.`],
    };
  }
  if (tooLong && requestedContext !== undefined && requestedContext > promptTokens) {
    return {
      kind: "conclusion",
      cause: "contextReduced",
      change: "length",
      sentence: say`${count(requestedContext)} tokens were asked for, but the server gives ${count(nCtxPerSlot)}: it was limited to the model's training context or to what fits in memory.`,
      evidence: [say`The server reports its context.`, ...trained(facts)],
      actions: [
        say`Look for a smaller training context (--override-kv with RoPE scaling) or for -fit in the log.`,
      ],
    };
  }
  return undefined;
}

const trained = ({ trainingContext }: DiagnosisFacts): readonly Text[] =>
  trainingContext === undefined ? [] : [say`The model was trained with ${count(trainingContext)} tokens.`];

function memory(facts: DiagnosisFacts, when: "load" | "length"): DiagnosisStep {
  const { devices = [], freeAfterLoadBytes } = facts;
  const full = devices.filter((d) => d.freeBytes < Math.max(2 ** 29, 0.03 * (d.totalBytes ?? 0)));
  const roomy = devices.filter((d) => d.freeBytes > 0.25 * (d.totalBytes ?? Infinity));
  const [fullest] = full;
  const [other] = roomy;
  if (fullest !== undefined && other !== undefined) {
    return {
      kind: "conclusion",
      cause: "oneDeviceFull",
      change: "placement",
      sentence: say`${fullest.name} is full while ${other.name} still has ${bytes(other.freeBytes)} free: devices are not one pool.`,
      evidence: [say`${fullest.name}: ${bytes(fullest.freeBytes)} free.`],
      actions: [say`Change the split (-ts) or the placement (-ngl, -ot), and nothing else.`],
    };
  }
  if (freeAfterLoadBytes === undefined) {
    return {
      kind: "ask",
      fact: "freeAfterLoadBytes",
      question: say`How much memory is free on the fullest device right after the model is loaded with a small context?`,
      choices: [],
      number: "bytes",
    };
  }
  if (freeAfterLoadBytes < 2 ** 30) {
    return {
      kind: "conclusion",
      cause: "weightsFill",
      change: "weights",
      sentence: say`The weights leave ${bytes(freeAfterLoadBytes)}: hardly anything for the cache.`,
      evidence: [],
      actions: [say`Compare a smaller quantisation of the weights, and nothing else.`],
    };
  }
  return {
    kind: "conclusion",
    cause: "cacheFills",
    change: "kvCache",
    sentence:
      when === "load"
        ? say`The weights fit; the cache for the whole context is set aside at the start and does not.`
        : say`The weights fit; what grows with the length fills the memory.`,
    evidence: [say`${bytes(freeAfterLoadBytes)} are free after loading.`],
    actions: [
      say`Compare a smaller KV cache type (-ctk q8_0 -ctv q8_0), or lower -c; one of them, not both.`,
    ],
  };
}

function failsAtLength(facts: DiagnosisFacts): DiagnosisStep {
  if (facts.logSays === undefined) {
    return {
      kind: "ask",
      fact: "logSays",
      question: say`What does the end of the server's log say?`,
      choices: [
        { value: "outOfMemory", label: say`Out of memory, or an allocation failed` },
        { value: "contextExceeded", label: say`The context was exceeded` },
        { value: "otherError", label: say`Another error` },
        { value: "nothing", label: say`Nothing; the server is gone` },
      ],
    };
  }
  if (facts.logSays === "outOfMemory") return memory(facts, "length");
  if (facts.logSays === "contextExceeded") return refused(facts);
  if (facts.sameTokenCount === undefined) {
    return {
      kind: "ask",
      fact: "sameTokenCount",
      question: say`Does it fail at about the same number of tokens each time?`,
      choices: yesNo,
    };
  }
  return facts.sameTokenCount
    ? {
        kind: "conclusion",
        cause: "cacheOrBackend",
        change: "kvCache",
        sentence: say`A failure at a constant token count points to the KV cache type, the backend or the edge of a contiguous area.`,
        evidence: [],
        actions: [say`Keep model and hardware, and change only the cache type or only the backend.`],
      }
    : sometimes(facts);
}

function refused(facts: DiagnosisFacts): DiagnosisStep {
  const { promptTokens, nCtxPerSlot } = facts;
  if (nCtxPerSlot === undefined) {
    return {
      kind: "ask",
      fact: "nCtxPerSlot",
      question: say`What does the server give one request (n_ctx in /props)?`,
      choices: [],
      number: "tokens",
    };
  }
  if (promptTokens === undefined) {
    return {
      kind: "ask",
      fact: "promptTokens",
      question: say`How many tokens has the prompt, with the chat template?`,
      choices: [],
      number: "tokens",
    };
  }
  if (promptTokens < nCtxPerSlot) {
    return {
      kind: "conclusion",
      cause: "answerRoom",
      change: "length",
      sentence: say`The prompt fits, but leaves only ${count(nCtxPerSlot - promptTokens)} tokens for the answer.`,
      evidence: [say`${count(promptTokens)} of ${count(nCtxPerSlot)} tokens are the prompt.`],
      actions: [say`Raise -c or shorten the prompt, so that thinking and answer have room.`],
    };
  }
  return {
    kind: "conclusion",
    cause: "contextTooSmall",
    change: "length",
    sentence: say`The prompt has ${count(promptTokens)} tokens, and one request may hold ${count(nCtxPerSlot)}.`,
    evidence: [],
    actions: [say`Raise -c if memory allows it, or send less.`],
  };
}

function slow(facts: DiagnosisFacts): DiagnosisStep {
  if (facts.disturbed === true) {
    return {
      kind: "conclusion",
      cause: "otherLoad",
      change: "load",
      sentence: say`Other programs used the machine meanwhile.`,
      evidence: [],
      actions: [say`Stop them and measure again before anything else is changed.`],
    };
  }
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
      question: say`How many times slower is it at this depth than at the beginning? The probe measures it.`,
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
      sentence: say`It is slow from the first token on: the part on the CPU decides, not the length.`,
      evidence: [say`At this depth it is ${percent(100 * (slowdown - 1))} slower than at the beginning.`],
      actions: [say`Bring more of it to the GPU: smaller weights or another placement, one at a time.`],
    };
  }
  return {
    kind: "conclusion",
    cause: "attentionCost",
    change: "length",
    sentence:
      facts.prefillSeconds === undefined
        ? say`Every token costs more the deeper it stands: the length is the cause, not a fault.`
        : say`Every token costs more the deeper it stands: ${seconds(facts.prefillSeconds)} are what this length costs here.`,
    evidence: [say`At this depth it is ${percent(100 * (slowdown - 1))} slower than at the beginning.`],
    actions: [
      say`Use a smaller window by day, keep the prompt's beginning unchanged so that the cache is used.`,
      say`Compare another backend, ubatch (-ub) or flash attention, one at a time.`,
    ],
  };
}

function forgets(facts: DiagnosisFacts): DiagnosisStep {
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

function sometimes(facts: DiagnosisFacts): DiagnosisStep {
  if (facts.disturbed === undefined) {
    return {
      kind: "ask",
      fact: "disturbed",
      question: say`Do other programs use the machine or the server at the same time?`,
      choices: yesNo,
    };
  }
  if (facts.disturbed) {
    return {
      kind: "conclusion",
      cause: "otherLoad",
      change: "load",
      sentence: say`Others use the machine or the server: slots share one pool of cells, and programs share the memory.`,
      evidence: [],
      actions: [say`Stop the other load and repeat the same test three times.`],
    };
  }
  return {
    kind: "conclusion",
    cause: facts.sameTokenCount === false ? "noMargin" : "unclear",
    change: "length",
    sentence: say`There is no margin: it is close to a limit, and small things decide.`,
    evidence: [],
    actions: [say`Repeat the same ladder three times, then lower the length until all three pass.`],
  };
}

const yesNo = [
  { value: true, label: say`Yes` },
  { value: false, label: say`No` },
] as const;
