import { buildHas } from "../../launch/builds";
import type { LaunchOptions } from "../../launch/launchOptions";
import type { Model } from "../../model/model";
import { count, say } from "../../text";
import type { ContextPlan } from "../contextPlan";
import type { HostExtra } from "./memoryReport";

const defaultPromptCacheMiB = 8192;
const defaultCheckpoints = 32;

/** Host memory beside llama.cpp's own accounting: logits handed out, prompt cache, context checkpoints. */
export function hostExtras(
  model: Model,
  options: LaunchOptions,
  plan: ContextPlan,
  checkpointBytes: number,
  build: number | undefined,
): readonly HostExtra[] {
  const extras: HostExtra[] = [
    {
      kind: "output",
      bytes: 4 * model.vocabularySize * plan.outputRows,
      when: "atLoad",
      text:
        plan.outputRows === 1
          ? say`Output buffer: logits of one row.`
          : say`Output buffer: logits of ${count(plan.outputRows)} row[s].`,
    },
  ];
  const cacheRam = options.cacheRam ?? defaultPromptCacheMiB;
  if (cacheRam > 0 && buildHas(build, "promptCache")) {
    extras.push({
      kind: "promptCache",
      bytes: cacheRam * 2 ** 20,
      when: "upTo",
      text: say`Prompt cache: states of earlier prompts, up to --cache-ram.`,
    });
  }
  const checkpoints = options.ctxCheckpoints ?? defaultCheckpoints;
  if (checkpoints > 0 && checkpointBytes > 0 && buildHas(build, "checkpoints")) {
    extras.push({
      kind: "checkpoints",
      bytes: checkpoints * plan.slot.slots * checkpointBytes,
      when: "upTo",
      text: say`Context checkpoints: up to ${count(checkpoints)} cop[y|ies] of the state or window of each slot.`,
    });
  }
  return extras;
}
