import { causes } from "../../causes/causes";
import { bytes, say } from "../../text";
import { refused } from "./diagnoseLength";
import { sometimes } from "./diagnoseSpeed";
import { concluded, yesNo, type DiagnosisFacts, type DiagnosisStep } from "./diagnosisStep";

/** Which device is full, and whether weights or cache filled it. */
export function memory(facts: DiagnosisFacts, when: "load" | "length"): DiagnosisStep {
  const { devices = [], freeAfterLoadBytes } = facts;
  const full = devices.filter((d) => d.freeBytes < Math.max(2 ** 29, 0.03 * (d.totalBytes ?? 0)));
  const roomy = devices.filter((d) => d.freeBytes > 0.25 * (d.totalBytes ?? Infinity));
  const [fullest] = full;
  const [other] = roomy;
  if (fullest !== undefined && other !== undefined) {
    return concluded(
      causes.oneDeviceFull(),
      say`${fullest.name}: ${bytes(fullest.freeBytes)} free, ${other.name}: ${bytes(other.freeBytes)} free.`,
    );
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
  const left = say`${bytes(freeAfterLoadBytes)} is free after loading.`;
  if (freeAfterLoadBytes < 2 ** 30) return concluded(causes.weightsFill(), left);
  const grows =
    when === "load"
      ? say`The cache for the whole context is allocated at startup.`
      : say`What grows with the length fills the memory.`;
  return concluded(causes.cacheFills(), left, grows);
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
  return facts.sameTokenCount ? concluded(causes.cacheOrBackend()) : sometimes(facts);
}
