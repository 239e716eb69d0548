import { draftedTokens } from "./draftedTokens";
import { buildHas } from "../launch/builds";
import { slotContext, type SlotContext } from "../launch/slotContext";
import { serverDefaults, type LaunchOptions } from "../launch/launchOptions";
import { cacheTypes, type GgmlType } from "../model/ggmlTypes";
import type { Model } from "../model/model";
import type { Backend } from "./devices/memoryDevice";
import { allDoFlash } from "./flashSupport";

/** Who makes the context. llama-fit-params, llama-bench and llama-cli reserve logits for a whole ubatch, the server does not. */
export type Caller = "server" | "fitParams";

/** The context a process would create, after llama.cpp's own corrections. */
export interface ContextPlan {
  readonly slot: SlotContext;
  readonly batch: number;
  readonly ubatch: number;
  readonly typeK: GgmlType;
  readonly typeV: GgmlType;
  readonly flashAttention: boolean;
  /** V is stored transposed: without flash attention, unless it was left to "auto" and turned off after the cache was made. */
  readonly transposedValues: boolean;
  /** Rows of logits the compute buffer is reserved for. */
  readonly outputs: number;
  /** Rows of the output buffer. */
  readonly outputRows: number;
  /** Copies of the recurrent state kept to roll a draft back (`n_rs_seq`). */
  readonly rollback: number;
  readonly draftMax: number;
  /** A second context runs the model's own MTP blocks. */
  readonly mtp: boolean;
  readonly swaFull: boolean;
  readonly kvOffload: boolean;
  /** The graph has a branch for embeddings of its own beside those of tokens (multimodal input in a batch of tokens). */
  readonly mixedEmbeddings: boolean;
  /** The host keeps masks in f32 although flash attention reads f16, and no room for embeddings from outside. */
  readonly olderInputs: boolean;
  /** How far compute buffers in public logs of builds like this were off, as a share; 0 for builds that are replayed. */
  readonly buildError: number;
  /** CUDA's flash attention counts its f16 copies of a quantised cache in the compute buffer. */
  readonly flashCopiesCounted: boolean;
}

export function contextPlan(
  model: Model,
  options: LaunchOptions,
  build: number | undefined,
  caller: Caller,
  backends: readonly Backend[] = [],
): ContextPlan {
  const slot = slotContext(options, model, build);
  const asked = options.ctxSize !== undefined && options.ctxSize > 0 ? options.ctxSize : slot.nCtx;
  const batchAsked = options.batchSize ?? serverDefaults.batchSize;
  const embedding = options.embedding === true;
  const batch = model.causal ? Math.min(asked, batchAsked) : batchAsked;
  const ubatch = Math.max(1, Math.min(batch, options.ubatchSize ?? serverDefaults.ubatchSize));
  const spec = options.specType ?? [];
  const draftMax = draftedTokens(options);
  const modelDraft = spec.some((type) => /^draft-(mtp|eagle|dflash)/.test(type));
  const typeK = cacheTypes.get(options.cacheTypeK ?? serverDefaults.cacheType) ?? f16;
  const typeV = cacheTypes.get(options.cacheTypeV ?? serverDefaults.cacheType) ?? f16;
  const wanted = wantsFlashAttention(model, options, build);
  // a quantised V needs it: where the devices cannot, the CPU does it
  const possible =
    options.flashAttn === "on" || isStoredInBlocks(typeV) || allDoFlash(model, typeK, typeV, backends);
  const few = buildHas(build, "fewOutputs");
  const rows = Math.min(batch, slot.slots * (1 + draftMax));
  return {
    slot,
    batch,
    ubatch,
    typeK,
    typeV,
    flashAttention: wanted && possible,
    transposedValues: !wanted,
    outputs: Math.min(ubatch, caller === "server" && few && !embedding ? rows : batch),
    outputRows: caller === "server" ? rows : slot.slots,
    rollback: modelDraft && model.rules?.rollback === true ? draftMax : 0,
    draftMax,
    mtp: usesMtp(model, options),
    swaFull: options.swaFull === true,
    kvOffload: options.kvOffload !== false,
    mixedEmbeddings: buildHas(build, "mixedEmbeddings"),
    // somewhere between b9300 and b9849
    olderInputs: !few,
    buildError: buildError(build),
    flashCopiesCounted: buildHas(build, "flashCopies"),
  };
}

/** As "Older llama.cpp builds" in docs/memory.md says. */
function buildError(build: number | undefined): number {
  if (buildHas(build, "mixedEmbeddings")) return 0;
  return buildHas(build, "fewOutputs") ? 0.1 : 0.2;
}

export const usesMtp = (model: Model, options: LaunchOptions): boolean =>
  options.specType?.includes("draft-mtp") === true && model.mtpLayers > 0;

/** On, or left to what the devices can do. */
function wantsFlashAttention(model: Model, options: LaunchOptions, build: number | undefined): boolean {
  if (model.rules?.noFlashAttention === true || options.flashAttn === "off") return false;
  return options.flashAttn !== undefined || buildHas(build, "flashAuto");
}

export const f16: GgmlType = { name: "f16", blockValues: 1, blockBytes: 2 };

/** Stored in blocks of several values. */
export const isStoredInBlocks = (type: GgmlType): boolean => type.blockValues > 1;
