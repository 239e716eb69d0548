import { count, say, type Text } from "../text";
import type { TrainedContext } from "../model/model";
import type { LaunchOptions } from "./launchOptions";
import { trainingContext } from "./trainingContext";

export type LaunchAdviceCode =
  | "quantisedVNeedsFlashAttn"
  | "quantisedHeadDimension"
  | "ubatchAboveBatch"
  | "slotsSplitContext"
  | "unifiedForced"
  | "tooManySlots"
  | "contextRounded"
  | "contextAboveTraining"
  | "wholeTrainingContext"
  | "fitSwitchedOff"
  | "kvTypesNotOnCuda"
  | "draftOptionsWithoutDraft"
  | "draftModelMissing"
  | "hfFileWithoutRepo"
  | "templateIsItsName"
  | "mainGpuIgnored";

/** What a set of launch options leads to. `error`: the server does not start with it. */
export interface LaunchAdvice {
  readonly code: LaunchAdviceCode;
  readonly severity: "error" | "warning" | "information";
  /** The launch option to point at. */
  readonly field: keyof LaunchOptions;
  readonly message: Text;
  /** A value for that or another option which settles it. */
  readonly remedy?: { readonly option: string; readonly value: string };
}

/** The few facts of a model's header the rules need. */
export interface ModelFacts {
  readonly trained?: TrainedContext;
  /** Head dimensions of K and V, where they are the same in all layers. */
  readonly headDimK?: number;
  readonly headDimV?: number;
}

const defaultBatch = 2048;
/** LLAMA_MAX_SEQ. */
const maxSlots = 256;
const cudaKvTypes: ReadonlySet<string> = new Set(["f32", "f16", "bf16", "q8_0", "q4_0"]);

/** Is a KV cache type stored in blocks of 32? */
export function isQuantised(type: string | undefined): boolean {
  return type !== undefined && /^i?q\d/.test(type);
}

/** Rounds up to a multiple of 256, as llama.cpp pads contexts. */
export function pad256(tokens: number): number {
  return Math.ceil(tokens / 256) * 256;
}

/** What one should know about these options before starting; sources: llama.cpp's own checks, see each rule. */
export function launchAdvice(options: LaunchOptions, model: ModelFacts = {}): LaunchAdvice[] {
  return [
    ...kvTypes(options, model),
    ...context(options, model),
    ...slots(options),
    ...fit(options),
    ...others(options),
  ];
}

// llama_init_from_model refuses both; auto turns flash attention on since b10206
function kvTypes(options: LaunchOptions, model: ModelFacts): LaunchAdvice[] {
  const found: LaunchAdvice[] = [];
  const { cacheTypeK = "f16", cacheTypeV = "f16", flashAttn = "auto" } = options;
  if (isQuantised(cacheTypeV) && flashAttn === "off") {
    found.push({
      code: "quantisedVNeedsFlashAttn",
      severity: "error",
      field: "cacheTypeV",
      message: say`A ${cacheTypeV} V cache needs flash attention, which is switched off: the server stops while loading.`,
      remedy: { option: "--flash-attn", value: "on" },
    });
  }
  for (const [field, type, dimension] of [
    ["cacheTypeK", cacheTypeK, model.headDimK],
    ["cacheTypeV", cacheTypeV, model.headDimV],
  ] as const) {
    if (!isQuantised(type) || dimension === undefined || dimension % 32 === 0 || flashAttn === "off")
      continue;
    found.push({
      code: "quantisedHeadDimension",
      severity: "error",
      field,
      message: say`This model's heads have ${count(dimension)} element[s], which is not a multiple of ${type}'s block size of 32: the server stops while loading.`,
      remedy: { option: field === "cacheTypeK" ? "--cache-type-k" : "--cache-type-v", value: "f16" },
    });
  }
  const message = kvTypesNotOnCuda(options);
  if (message !== undefined) {
    const field = isQuantised(cacheTypeV) ? "cacheTypeV" : "cacheTypeK";
    found.push({ code: "kvTypesNotOnCuda", severity: "information", field, message });
  }
  return found;
}

/** What ordinary CUDA builds do with KV types for which they have no kernel. */
export function kvTypesNotOnCuda({
  cacheTypeK = "f16",
  cacheTypeV = "f16",
  flashAttn = "auto",
}: LaunchOptions): Text | undefined {
  const quantised = isQuantised(cacheTypeK) || isQuantised(cacheTypeV);
  const kernel = cacheTypeK === cacheTypeV && cudaKvTypes.has(cacheTypeK);
  if (!quantised || kernel || flashAttn === "off") return undefined;
  // a quantised V needs flash attention, so that auto cannot turn it off
  if (flashAttn === "auto" && !isQuantised(cacheTypeV)) {
    return say`Standard CUDA builds have no flash attention kernel for K ${cacheTypeK} with V ${cacheTypeV}, so -fa auto turns it off: the compute buffer then holds the attention scores and grows with -c. Use q8_0 or q4_0 for both, or a build with GGML_CUDA_FA_ALL_QUANTS.`;
  }
  return say`Standard CUDA builds have no flash attention kernel for K ${cacheTypeK} with V ${cacheTypeV}; attention then runs on the CPU, many times slower. Use q8_0 or q4_0 for both, or a build with GGML_CUDA_FA_ALL_QUANTS.`;
}

function context(options: LaunchOptions, model: ModelFacts): LaunchAdvice[] {
  const found: LaunchAdvice[] = [];
  const { ctxSize, batchSize = defaultBatch, ubatchSize } = options;
  if (ubatchSize !== undefined && ubatchSize > batchSize) {
    found.push({
      code: "ubatchAboveBatch",
      severity: "warning",
      field: "ubatchSize",
      message: say`The physical batch cannot be larger than the logical one: ${count(batchSize)} token[s] [is|are] used.`,
      remedy: { option: "--batch-size", value: String(ubatchSize) },
    });
  }
  if (ctxSize === undefined) return found;
  if (ctxSize === 0) {
    found.push({
      code: "wholeTrainingContext",
      severity: "information",
      field: "ctxSize",
      message: say`0 requests the model's whole training context and keeps -fit from reducing it.`,
    });
  } else if (ctxSize > 0 && ctxSize % 256 !== 0 && (options.parallel ?? 1) <= 1) {
    found.push({
      code: "contextRounded",
      severity: "information",
      field: "ctxSize",
      message: say`llama.cpp rounds the context up to ${count(pad256(ctxSize))} token[s].`,
    });
  }
  const limit = model.trained && trainingContext(options, model.trained).limit;
  if (limit !== undefined && limit > 0 && ctxSize > limit && !splitsBelow(options, limit)) {
    const scaled = ropeIsScaled(options);
    found.push({
      code: "contextAboveTraining",
      severity: "warning",
      field: "ctxSize",
      message: scaled
        ? say`One slot gets ${count(limit)} token[s], although memory for ${count(ctxSize)} is allocated: of RoPE scaling only YaRN lifts the model's training context, by the factor of --rope-scale.`
        : say`One slot gets ${count(limit)} token[s], the model's training context, although memory for ${count(ctxSize)} is allocated. Without RoPE scaling a longer context would be extrapolation.`,
      remedy: { option: "--ctx-size", value: String(limit) },
    });
  }
  return found;
}

function splitsBelow(options: LaunchOptions, limit: number): boolean {
  const { parallel = 1, kvUnified = false, ctxSize = 0 } = options;
  return parallel > 1 && !kvUnified && ctxSize / parallel <= limit;
}

function ropeIsScaled({ ropeScaling, ropeScale, yarnOrigCtx }: LaunchOptions): boolean {
  if (ropeScaling !== undefined) return ropeScaling !== "none";
  return [ropeScale, yarnOrigCtx].some((value) => value !== undefined && value !== 0);
}

// llama_context splits a context that is not unified; automatic slots force unified (tools/server/server.cpp)
function slots({ parallel, kvUnified, ctxSize, kvUnifiedPerSlot }: LaunchOptions): LaunchAdvice[] {
  if (parallel !== undefined && parallel > maxSlots) {
    const message = say`llama.cpp supports at most ${count(maxSlots)} slot[s]: the server stops while loading.`;
    const remedy = { option: "--parallel", value: String(maxSlots) };
    return [{ code: "tooManySlots", severity: "error", field: "parallel", message, remedy }];
  }
  if ((parallel === undefined || parallel < 0) && kvUnified === false) {
    return [
      {
        code: "unifiedForced",
        severity: "warning",
        field: "kvUnified",
        message: say`With an automatic number of slots the KV cache is unified anyway.`,
        remedy: { option: "--parallel", value: "4" },
      },
    ];
  }
  if (parallel === undefined || parallel < 2 || kvUnified === true || ctxSize === undefined || ctxSize <= 0)
    return [];
  if (kvUnifiedPerSlot !== undefined) return [];
  const perSlot = pad256(Math.floor(ctxSize / parallel));
  return [
    {
      code: "slotsSplitContext",
      severity: "information",
      field: "parallel",
      message: say`${count(parallel)} slot[s] share[s|] the context: one request may hold ${count(perSlot)} token[s], not ${count(ctxSize)}.`,
      remedy: { option: "--kv-unified", value: "on" },
    },
  ];
}

// common_params_fit_impl: the context is reduced only where -c is absent, layers move only where these are absent
function fit(options: LaunchOptions): LaunchAdvice[] {
  if (options.fit === false) return [];
  const { gpuLayers, tensorSplit, overrideTensor, ctxSize } = options;
  const field =
    tensorSplit !== undefined
      ? "tensorSplit"
      : overrideTensor !== undefined
        ? "overrideTensor"
        : gpuLayers !== undefined && gpuLayers !== "auto"
          ? "gpuLayers"
          : undefined;
  if (field === undefined) return [];
  const message =
    ctxSize === undefined
      ? say`With this, -fit no longer moves layers when memory is short; it can only reduce the context.`
      : say`With this and a context size, -fit no longer changes anything: loading fails if the model does not fit.`;
  return [{ code: "fitSwitchedOff", severity: "information", field, message }];
}

function others(options: LaunchOptions): LaunchAdvice[] {
  const found: LaunchAdvice[] = [];
  const drafts = [options.specType, options.specDraftModel, options.specDraftHfRepo];
  if (drafts.every((draft) => draft === undefined)) {
    for (const field of ["specDraftNMax", "specDraftTypeK", "specDraftTypeV", "specDraftNUbatch"] as const) {
      if (options[field] === undefined) continue;
      const message = say`Nothing drafts tokens: without --spec-type or a draft model this has no effect.`;
      found.push({ code: "draftOptionsWithoutDraft", severity: "information", field, message });
    }
  }
  const lacking = options.specType?.find((type) => draftsWithModel.has(type));
  if (
    lacking !== undefined &&
    options.specDraftModel === undefined &&
    options.specDraftHfRepo === undefined
  ) {
    const message = say`${lacking} needs a draft model (spec-draft-model), and none is named: the server starts and drafts nothing.`;
    found.push({ code: "draftModelMissing", severity: "warning", field: "specType", message });
  }
  if (options.hfFile !== undefined && options.hfRepo === undefined) {
    const message = say`A file in a Hugging Face repository is specified, but no repository.`;
    found.push({ code: "hfFileWithoutRepo", severity: "warning", field: "hfFile", message });
  }
  const { chatTemplate, jinja = true } = options;
  if (jinja && chatTemplate?.kind === "text" && isNoTemplate(chatTemplate.text)) {
    const message = say`With --jinja, which is the default, this is not the name of a template but its text: every prompt is "${chatTemplate.text}", without the message. Add --no-jinja to use a built-in template by name.`;
    found.push({ code: "templateIsItsName", severity: "warning", field: "chatTemplate", message });
  }
  if (options.mainGpu !== undefined && (options.splitMode ?? "layer") === "layer") {
    const message = say`The main GPU matters only with the split modes none and row.`;
    found.push({ code: "mainGpuIgnored", severity: "information", field: "mainGpu", message });
  }
  return found;
}

/** Real b11669 serves without drafting if these lack their model; draft-mtp takes the model's own layers. */
const draftsWithModel: ReadonlySet<string> = new Set([
  "draft-simple",
  "draft-eagle3",
  "draft-dflash",
  "draft-dspark",
]);

/** A text in which Jinja has nothing to do; "chatml" is the one name that is understood (common_chat_templates_init). */
const isNoTemplate = (text: string): boolean => text !== "" && text !== "chatml" && !/\{[{%]/.test(text);
