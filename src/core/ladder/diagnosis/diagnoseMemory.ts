import { bytes, say } from "../../text";
import { refused } from "./diagnoseLength";
import { sometimes } from "./diagnoseSpeed";
import { yesNo, type DiagnosisFacts, type DiagnosisStep } from "./diagnosisStep";

/** Which device is full, and whether weights or cache filled it. */
export function memory(facts: DiagnosisFacts, when: "load" | "length"): DiagnosisStep {
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
      actions: [say`Change only the split (-ts) or the placement (-ngl, -ot).`],
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
      actions: [say`Try a smaller quantisation of the weights, and nothing else.`],
    };
  }
  return {
    kind: "conclusion",
    cause: "cacheFills",
    change: "kvCache",
    sentence:
      when === "load"
        ? say`The weights fit; the cache for the whole context is allocated at startup and does not.`
        : say`The weights fit; what grows with the length fills the memory.`,
    evidence: [say`${bytes(freeAfterLoadBytes)} is free after loading.`],
    actions: [say`Try a smaller KV cache type (-ctk q8_0 -ctv q8_0) or a lower -c, but not both at once.`],
  };
}

export function failsAtLength(facts: DiagnosisFacts): DiagnosisStep {
  if (facts.logSays === undefined) {
    return {
      kind: "ask",
      fact: "logSays",
      question: say`What does the end of the server's log say?`,
      choices: [
        { value: "outOfMemory", label: say`Out of memory, or an allocation failed` },
        { value: "contextExceeded", label: say`The context was exceeded` },
        { value: "otherError", label: say`A different error` },
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
        sentence: say`A failure at a constant token count points to the KV cache type, the backend or the boundary of a contiguous region.`,
        evidence: [],
        actions: [say`Keep model and hardware, and change only the cache type or only the backend.`],
      }
    : sometimes(facts);
}
