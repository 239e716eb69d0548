import type { LaunchChange } from "../launch/launchChange";
import type { LaunchOptions } from "../launch/launchOptions";
import type { SlotContext } from "../launch/slotContext";
import { trainingContext, yarnFactorFor } from "../launch/trainingContext";
import { contextPlan } from "../memory/contextPlan";
import type { Backend } from "../memory/devices/memoryDevice";
import { allDoFlash } from "../memory/flashSupport";
import type { MemoryReport } from "../memory/budget/memoryReport";
import { cacheTypes } from "../model/ggmlTypes";
import type { Model } from "../model/model";
import { count, say, type Text } from "../text";

/** Steps of one family exclude each other. */
export type StepFamily = "context" | "slots" | "kv" | "ubatch" | "offload" | "rope";

/** One thing that can be changed. What `-c` then has to be depends on the other steps. */
export interface Step {
  readonly family: StepFamily;
  readonly change: LaunchChange;
  /** How much it takes from the user, in no unit; ranks what is offered. */
  readonly weight: number;
  readonly cost: readonly Text[];
}

/** What decides which steps make sense. */
export interface StepFacts {
  readonly model: Model;
  readonly launch: LaunchOptions;
  readonly build: number | undefined;
  readonly slot: SlotContext;
  readonly memory: MemoryReport;
  readonly backends: readonly Backend[];
}

/** Other divisions of the context among requests. */
export function slotSteps({ slot, launch }: StepFacts): readonly Step[] {
  if (slot.slots < 2) return [];
  const one: Step = {
    family: "slots",
    change: { parallel: 1 },
    weight: 2,
    cost: [say`One request at a time: others wait for it.`],
  };
  if (slot.unified || launch.parallel === undefined) return [one];
  return [
    {
      family: "slots",
      change: { kvUnified: true },
      weight: 1,
      cost: [say`All slots share one context: long requests at the same time can fill it.`],
    },
    one,
  ];
}

const worse = say`Recall can get worse; a ladder shows whether it does.`;
const little = say`Recall usually stays as it is with q8_0; a ladder shows whether it does.`;
const noKernel = say`The GPU has no flash attention kernel for these two types: reading a long prompt gets slower.`;

const typePairs: readonly (readonly [k: string, v: string, weight: number, cost: Text])[] = [
  ["q8_0", "q8_0", 5, little],
  ["f16", "q8_0", 5.5, little],
  ["q8_0", "f16", 6, little],
  ["q5_1", "q5_1", 8, worse],
  ["q4_0", "q4_0", 10, worse],
];

/** Smaller KV caches. Those that would take attention to the CPU are left out. */
export function kvSteps({ model, launch, build, backends, memory }: StepFacts): readonly Step[] {
  if (memory.kv.length === 0) return [];
  const now = contextPlan(model, launch, build, "server", backends);
  const bytes = (name: string): number => {
    const type = cacheTypes.get(name);
    return type === undefined ? 0 : type.blockBytes / type.blockValues;
  };
  const size = (k: string, v: string): number => bytes(k) + bytes(v);
  const steps: Step[] = [];
  for (const [k, v, weight, cost] of typePairs) {
    if (size(k, v) >= size(now.typeK.name, now.typeV.name)) continue;
    const [typeK, typeV] = [cacheTypes.get(k), cacheTypes.get(v)];
    if (typeK === undefined || typeV === undefined) continue;
    const slow = !allDoFlash(model, typeK, typeV, backends);
    // a quantised V needs flash attention, and without a kernel the CPU does it
    if (slow && (v !== "f16" || launch.flashAttn === "on")) continue;
    steps.push({
      family: "kv",
      change: {
        ...(k !== now.typeK.name && { cacheTypeK: k }),
        ...(v !== now.typeV.name && { cacheTypeV: v }),
      },
      weight: slow ? weight + 6 : weight,
      cost: slow ? [cost, noKernel] : [cost],
    });
  }
  return steps;
}

/** Smaller compute buffers. */
export function ubatchSteps({ model, launch, build }: StepFacts): readonly Step[] {
  const { ubatch } = contextPlan(model, launch, build, "server");
  return [256, 128]
    .filter((size) => size < ubatch)
    .map((size, i) => ({
      family: "ubatch",
      change: { ubatchSize: size },
      weight: 4 + i,
      cost: [say`Reading the prompt can get slower with a smaller ubatch.`],
    }));
}

/**
 * Layers or experts in host memory, the fewest with which `holds`. That more of them never need more of the GPU is taken
 * for granted.
 */
export function offloadSteps(facts: StepFacts, holds: (change: LaunchChange) => boolean): readonly Step[] {
  const { model, launch, backends } = facts;
  if (backends.length === 0 || launch.overrideTensor !== undefined || launch.cpuMoe === true) return [];
  const blocks = model.layers.length;
  const steps: Step[] = [];
  if (model.experts !== undefined) {
    const from = (launch.nCpuMoe ?? 0) + 1;
    const layers = fewest(from, blocks, (n) => holds({ nCpuMoe: n }));
    if (layers !== undefined) {
      steps.push({
        family: "offload",
        change: { nCpuMoe: layers },
        weight: 7,
        cost: [
          say`Generation gets slower: the experts of ${count(layers)} layer[s] are computed on the CPU.`,
        ],
      });
    }
  }
  const all = typeof launch.gpuLayers === "number" ? Math.min(launch.gpuLayers, blocks + 1) : blocks + 1;
  const moved = fewest(1, all, (n) => holds({ gpuLayers: all - n }));
  if (moved !== undefined) {
    steps.push({
      family: "offload",
      change: { gpuLayers: all - moved },
      weight: 9,
      cost: [
        say`Generation and reading get slower: ${count(blocks + 1 - (all - moved))} of ${count(blocks + 1)} layer[s] [is|are] computed on the CPU.`,
      ],
    });
  }
  return steps;
}

function fewest(from: number, most: number, holds: (n: number) => boolean): number | undefined {
  if (from > most || !holds(most)) return undefined;
  let [low, high] = [from, most];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** As far as Qwen, whose makers recommend YaRN, goes with it. */
const mostYarn = 4;

/** YaRN with the smallest whole factor for so many tokens, or why not. */
export function yarnStep({ model, launch, build }: StepFacts, tokens: number): Step | { readonly why: Text } {
  const { type, factor = 1, rotates, factors } = model.rope;
  if (rotates !== true)
    return { why: say`The model has no rotary position encoding, so YaRN cannot extend it.` };
  if (factors === true || factor !== 1 || (type !== undefined && type !== "none" && type !== "linear")) {
    return { why: say`The model's makers have extended its context already (RoPE scaling in the file).` };
  }
  const needed = yarnFactorFor(tokens, launch, model);
  if (needed === undefined || needed > mostYarn) {
    return {
      why: say`It would have to extend the context more than ${count(mostYarn)} times, beyond what is recommended for any model.`,
    };
  }
  const change: LaunchChange = { ropeScaling: "yarn", ropeScale: needed };
  if (trainingContext({ ...launch, ...change }, model, build).limit < tokens) {
    return { why: say`This build of llama.cpp limits a slot to the training context even with YaRN.` };
  }
  return {
    family: "rope",
    change,
    weight: 12,
    cost: [
      say`The model was not trained on contexts this long: recall can get worse, also with short prompts. Do it only if the model's makers recommend YaRN, and run a ladder.`,
    ],
  };
}
