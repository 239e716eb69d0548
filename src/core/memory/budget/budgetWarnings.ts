import { buildHas } from "../../launch/builds";
import { kvTypesNotOnCuda } from "../../launch/launchRules";
import type { LaunchOptions } from "../../launch/launchOptions";
import { cacheTypes, type GgmlType } from "../../model/ggmlTypes";
import type { Model } from "../../model/model";
import { bytes, count, say, type Text } from "../../text";
import { isStoredInBlocks, type ContextPlan } from "../contextPlan";
import { isHost, type MemoryDevice } from "../devices/memoryDevice";
import { placedByUser } from "./fitLayers";
import type { BudgetSettings } from "./breakdown";
import type { MemoryWarning } from "./memoryReport";
import type { OverrideProblem } from "../overrides/tensorOverrides";
import { maxDevices, type Placement } from "../placement";
import { projectorNeed } from "../projector/projector";

/** What llama-server will do with options that do not go together; each says so in words. */
export function budgetWarnings(
  model: Model,
  options: LaunchOptions,
  plan: ContextPlan,
  placed: Placement,
  devices: readonly MemoryDevice[],
  settings: BudgetSettings,
): readonly MemoryWarning[] {
  const warnings: MemoryWarning[] = model.warnings.map(({ code, message }) => ({ code, message }));
  const warn = (code: string, message: Text): void => {
    warnings.push({ code, message });
  };
  cacheTypeWarnings(model, options, plan, settings.build, warn);
  const cuda = placed.devices.some(({ backend }) => backend === "cuda");
  const noKernel = cuda && model.mla === undefined ? kvTypesNotOnCuda(options) : undefined;
  if (noKernel !== undefined) warn("kvTypesNotOnCuda", noKernel);
  contextWarnings(model, options, plan, warn);
  besideWarnings(options, settings, warn);
  placementWarnings(model, options, placed, devices, warn);
  overrideWarnings(placed, warn);
  return warnings;
}

type Warn = (code: string, message: Text) => void;

function cacheTypeWarnings(
  model: Model,
  options: LaunchOptions,
  plan: ContextPlan,
  build: number | undefined,
  warn: Warn,
): void {
  for (const [flag, name] of [
    ["-ctk", options.cacheTypeK],
    ["-ctv", options.cacheTypeV],
  ] as const) {
    if (name !== undefined && !cacheTypes.has(name)) {
      warn(
        "cacheTypeUnknown",
        say`${flag} ${name} is not a cache type of llama.cpp: the server stops with "Unsupported cache type". Counted as f16.`,
      );
    }
  }
  const { typeK, typeV } = plan;
  if (isStoredInBlocks(typeV) && !plan.flashAttention) {
    warn(
      "quantisedVWithoutFlashAttention",
      say`A ${typeV.name} V cache needs flash attention: with -fa off the server stops with "quantized V cache requires flash_attn to be enabled".`,
    );
  } else if (isStoredInBlocks(typeV) && options.flashAttn !== "on" && !buildHas(build, "forcedFlash")) {
    warn(
      "quantisedVNeedsFlashOn",
      say`This build of llama.cpp may reject a ${typeV.name} V cache while -fa is auto: write -fa on.`,
    );
  }
  if (plan.flashAttention) {
    divisible(model, "K", typeK, (layer) => layer.keyLength, warn);
    divisible(model, "V", typeV, (layer) => layer.valueLength, warn);
  }
  const keysOnly = model.mla !== undefined || model.rules?.compressed === true;
  if (keysOnly && typeK.name !== typeV.name) {
    warn(
      "cacheTypesDiffer",
      say`This model stores K only, so -ctk and -ctv must be equal: with ${typeK.name} and ${typeV.name} the server stops with "model does not support different K and V cache types".`,
    );
  }
}

function divisible(
  model: Model,
  which: string,
  type: GgmlType,
  length: (layer: Model["layers"][number]) => number,
  warn: Warn,
): void {
  const odd = model.layers.find((layer) => layer.ownsKv && length(layer) % type.blockValues !== 0);
  if (odd === undefined) return;
  warn(
    "headSizeNotDivisible",
    say`${type.name} stores blocks of ${count(type.blockValues)} value[s], and a head of this model has ${count(length(odd))}: the server stops because the ${which} cache type's block size does not divide the head size.`,
  );
}

function contextWarnings(model: Model, options: LaunchOptions, plan: ContextPlan, warn: Warn): void {
  const { slot } = plan;
  const train = slot.trainingContext;
  if (slot.cappedByTraining && train > 0) {
    warn(
      "contextAboveTraining",
      say`-c is larger than the ${count(train)} token[s] the model was trained on: memory for ${count(slot.nCtx)} cell[s] is allocated, but one request still gets only ${count(slot.nCtxPerSlot)}.`,
    );
  }
  if (options.ctxSize === 0) {
    warn(
      "contextZero",
      say`-c 0 requests the whole training context and keeps -fit from reducing it: ${count(slot.nCtx)} cell[s] [is|are] allocated.`,
    );
  }
  if (!slot.unified && slot.slots > 1) {
    warn(
      "slotsDivideContext",
      say`-np ${count(slot.slots)} divides the context: one request gets ${count(slot.nCtxPerSlot)} of ${count(slot.nCtx)} token[s]. With -kvu the slots share all of it.`,
    );
  }
  if (options.kvOffload === false) {
    warn("kvOnHost", say`-nkvo keeps the KV cache in host memory, and attention is computed on the CPU.`);
  }
  if (model.mtpLayers === 0 && options.specType?.includes("draft-mtp") === true) {
    warn(
      "mtpMissing",
      say`This model has no blocks for multi-token prediction: --spec-type draft-mtp cannot start.`,
    );
  }
}

function besideWarnings(options: LaunchOptions, { draft, projector }: BudgetSettings, warn: Warn): void {
  if (options.specDraftModel !== undefined && draft === undefined) {
    warn(
      "draftModelNotCounted",
      say`The draft model ${options.specDraftModel} needs additional memory that is not counted here.`,
    );
  }
  if (options.mmproj === undefined) return;
  if (projector === undefined) {
    warn(
      "projectorNotCounted",
      say`The multimodal projector ${options.mmproj} cannot be read: its weights and its compute buffer are not counted.`,
    );
    return;
  }
  if (projector.notReplayed.length > 0) {
    warn(
      "projectorEstimated",
      say`The compute buffer of the multimodal projector's encoder (${projector.notReplayed.join(", ")}) is not counted here, but its weights are.`,
    );
  }
  const { atLoad, largest } = projectorNeed(projector, options.flashAttn !== "off", options.imageMaxTokens);
  if (largest.compute > atLoad.compute) {
    warn(
      "projectorGrows",
      say`The multimodal projector's compute buffer takes ${bytes(atLoad.compute)} at load and grows to ${bytes(largest.compute)} with the largest image; --image-max-tokens makes it smaller.`,
    );
  }
}

function placementWarnings(
  model: Model,
  options: LaunchOptions,
  placed: Placement,
  devices: readonly MemoryDevice[],
  warn: Warn,
): void {
  const gpus = devices.filter((device) => !isHost(device));
  const asked = options.gpuLayers;
  if (gpus.length === 0 && (typeof asked === "number" ? asked > 0 : asked === "all")) {
    warn(
      "noDevice",
      say`-ngl requests layers on a GPU, but no GPU was detected: everything stays in host memory.`,
    );
  }
  for (const name of new Set(options.devices?.slice(0, maxDevices))) {
    if (name !== "none" && !gpus.some((device) => device.name.toLowerCase() === name.toLowerCase())) {
      warn("deviceUnknown", say`There is no device ${name} here: llama-server stops with "invalid device".`);
    }
  }
  const total = model.layers.length + 1;
  if (typeof asked === "number" && asked === total - 1 && model.mtpLayers > 0 && placed.devices.length > 0) {
    warn(
      "firstLayerOnHost",
      say`-ngl ${count(asked)} leaves the first layer in host memory, because the block for multi-token prediction counts as a layer; -ngl ${count(total)} or all offloads everything.`,
    );
  }
  if (options.splitMode === "row") {
    warn(
      "splitModeRow",
      say`-sm row splits matrices across devices. It is counted as -sm layer here; backends without split buffers stop with "does not support split buffers".`,
    );
  }
  if (options.splitMode === "tensor") {
    warn(
      "splitModeTensor",
      say`-sm tensor is experimental. It is counted as -sm layer here, and -fit does nothing.`,
    );
  }
  if (gpus.length > 0 && options.fit !== false) {
    const [first] = placedByUser(options);
    if (first !== undefined) {
      warn(
        "fitCannotMove",
        say`-fit cannot move layers to host memory because ${first} is set: loading fails if the model does not fit.`,
      );
    }
  } else if (options.fit === false) {
    warn("fitOff", say`-fit is off: nothing is reduced, and loading fails if the model does not fit.`);
  }
}

/** A list may have any number of them. */
const shownOverrides = 3;

function overrideWarnings({ overrideProblems }: Placement, warn: Warn): void {
  for (const { pattern, problem } of overrideProblems.slice(0, shownOverrides)) {
    const shown = pattern.length > 60 ? `${pattern.slice(0, 57)}…` : pattern;
    if (problem === "invalid") {
      warn(
        "overrideInvalid",
        say`The pattern "${shown}" of -ot is not a valid C++ regular expression: the server stops while it loads the model.`,
      );
    } else {
      warn(
        "overrideNotEvaluated",
        say`The pattern "${shown}" of -ot is not evaluated, because ${notEvaluated[problem]}: the tensors it names are counted where they would be without it.`,
      );
    }
  }
}

const notEvaluated: Record<Exclude<OverrideProblem["problem"], "invalid">, Text> = {
  backReference: say`it has a back reference`,
  collation: say`it uses a collating element`,
  tooLarge: say`matching it would take too long`,
};
