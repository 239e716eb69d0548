import { readFloat, readInteger } from "./cNumbers";
import type { FlashAttn, LaunchOptions, SplitMode, TensorOverride } from "./launchOptions";
import { autoWords, splitNumbers, truthy } from "./optionValue";

/** What a valid value of an option says in launch options; `on` is false for a negative form. */
export type OptionEffect = (value: string, on: boolean) => LaunchOptions;

type Fields<T> = {
  [K in keyof LaunchOptions]-?: T extends NonNullable<LaunchOptions[K]> ? K : never;
}[keyof LaunchOptions];

function setting<T>(key: Fields<T>, read: (value: string, on: boolean) => T): OptionEffect {
  return (value, on) => ({ [key]: read(value, on) });
}

const text = (key: Fields<string>): OptionEffect => setting(key, (value) => value);
const flag = (key: Fields<boolean>): OptionEffect => setting(key, (_, on) => on);
const integer = (key: Fields<number>): OptionEffect => setting(key, numberIn);
const number = (key: Fields<number>): OptionEffect => setting(key, floatIn);
const layers = (key: Fields<"auto">): OptionEffect =>
  setting<number | "auto" | "all">(key, (value) => {
    if (value === "auto" || value === "all") return value;
    const layers = numberIn(value);
    if (layers === -1) return "auto";
    return layers < 0 ? "all" : layers;
  });
const names = (key: Fields<readonly string[]>): OptionEffect => setting(key, (value) => value.split(","));
const devices = (key: Fields<readonly string[]>): OptionEffect =>
  setting(key, (value) => (value === "none" ? [] : value.split(",")));

function numberIn(value: string): number {
  const read = readInteger(value);
  return read.ok ? read.value : 0;
}

function floatIn(value: string): number {
  const read = readFloat(value);
  return read.ok ? read.value : 0;
}

const numbersIn = (value: string): readonly number[] => splitNumbers(value).map(floatIn);

function flashAttn(value: string): FlashAttn {
  if (autoWords.includes(value)) return "auto";
  return truthy.includes(value) ? "on" : "off";
}

const templateVariable = (json: (value: string) => string): OptionEffect =>
  setting<readonly string[]>("chatTemplateKwargs", (value) => [json(value)]);

const splitModes: readonly SplitMode[] = ["none", "layer", "row", "tensor"];

/** `PATTERN=BUFFER,…`: the pattern ends at the first `=`. */
function readOverrides(value: string): readonly TensorOverride[] {
  return value.split(",").map((part) => {
    const end = part.indexOf("=");
    return { pattern: part.slice(0, end), buffer: part.slice(end + 1) };
  });
}

/** Options that set a launch option, by their main (last) name. */
export const optionEffects: Readonly<Record<string, OptionEffect>> = {
  "--model": text("model"),
  "--model-url": text("modelUrl"),
  "--docker-repo": text("dockerRepo"),
  "--hf-repo": text("hfRepo"),
  "--hf-file": text("hfFile"),
  "--models-preset": text("modelsPreset"),
  "--models-dir": text("modelsDir"),
  "--lora": names("lora"),
  "--mmproj": text("mmproj"),
  "--mmproj-url": text("mmprojUrl"),
  "--mmproj-auto": flag("mmprojAuto"),
  "--mmproj-offload": flag("mmprojOffload"),
  "--mmproj-device": text("mmprojDevice"),
  "--image-min-tokens": integer("imageMinTokens"),
  "--image-max-tokens": integer("imageMaxTokens"),
  "--ctx-size": integer("ctxSize"),
  "--parallel": integer("parallel"),
  "--kv-unified": flag("kvUnified"),
  "--kv-unified-per-slot": integer("kvUnifiedPerSlot"),
  "--batch-size": integer("batchSize"),
  "--ubatch-size": integer("ubatchSize"),
  "--flash-attn": setting("flashAttn", flashAttn),
  "--cache-type-k": text("cacheTypeK"),
  "--cache-type-v": text("cacheTypeV"),
  "--swa-full": flag("swaFull"),
  "--kv-offload": flag("kvOffload"),
  "--op-offload": flag("opOffload"),
  "--repack": flag("repack"),
  "--no-host": flag("noHost"),
  "--load-mode": text("loadMode"),
  "--lazy-mode": text("lazyMode"),
  "--n-gpu-layers": layers("gpuLayers"),
  "--split-mode": setting<SplitMode>(
    "splitMode",
    (value) => splitModes.find((mode) => mode === value) ?? "layer",
  ),
  "--tensor-split": setting("tensorSplit", numbersIn),
  "--main-gpu": integer("mainGpu"),
  "--device": devices("devices"),
  "--rpc": names("rpc"),
  "--override-tensor": setting("overrideTensor", readOverrides),
  "--cpu-moe": flag("cpuMoe"),
  "--n-cpu-moe": integer("nCpuMoe"),
  "--n-cpu-ffn": integer("nCpuFfn"),
  "--moe-cache-mib": integer("moeCacheMib"),
  "--fit": setting<boolean>("fit", (value) => truthy.includes(value)),
  "--fit-target": setting("fitTarget", numbersIn),
  "--fit-ctx": integer("fitCtx"),
  "--cache-ram": integer("cacheRam"),
  "--swa-checkpoints": integer("ctxCheckpoints"),
  "--checkpoint-min-step": integer("checkpointMinStep"),
  "--context-shift": flag("contextShift"),
  "--keep": integer("keep"),
  "--cache-prompt": flag("cachePrompt"),
  "--cache-reuse": integer("cacheReuse"),
  "--slot-prompt-similarity": number("slotPromptSimilarity"),
  "--spec-type": names("specType"),
  "--model-draft": text("specDraftModel"),
  "--hf-repo-draft": text("specDraftHfRepo"),
  "--device-draft": devices("specDraftDevices"),
  "--spec-draft-n-max": integer("specDraftNMax"),
  "--spec-ngram-simple-size-m": integer("specNgramSimpleSizeM"),
  "--spec-ngram-map-k-size-m": integer("specNgramMapKSizeM"),
  "--spec-ngram-map-k4v-size-m": integer("specNgramMapK4vSizeM"),
  "--spec-ngram-mod-n-max": integer("specNgramModNMax"),
  "--spec-draft-n-min": integer("specDraftNMin"),
  "--cache-type-k-draft": text("specDraftTypeK"),
  "--cache-type-v-draft": text("specDraftTypeV"),
  "--n-gpu-layers-draft": layers("specDraftNgl"),
  "--spec-draft-n-ubatch": integer("specDraftNUbatch"),
  "--spec-draft-backend-sampling": flag("specDraftBackendSampling"),
  "--rope-scaling": text("ropeScaling"),
  "--rope-scale": number("ropeScale"),
  "--rope-freq-base": number("ropeFreqBase"),
  "--rope-freq-scale": setting<number>("ropeScale", (value) => 1 / floatIn(value)),
  "--yarn-orig-ctx": integer("yarnOrigCtx"),
  "--override-kv": names("overrideKv"),
  "--embeddings": flag("embedding"),
  "--reranking": flag("reranking"),
  "--pooling": text("pooling"),
  "--chat-template": (value) => ({ chatTemplate: { kind: "text", text: value } }),
  "--chat-template-file": (value) => ({ chatTemplate: { kind: "file", path: value } }),
  "--jinja": flag("jinja"),
  "--chat-template-kwargs": templateVariable((value) => value),
  // "auto" takes back nothing
  "--reasoning": (value) =>
    autoWords.includes(value)
      ? {}
      : { chatTemplateKwargs: [JSON.stringify({ enable_thinking: truthy.includes(value) })] },
  "--reasoning-effort": templateVariable((value) =>
    JSON.stringify({ reasoning_effort: value === "default" ? null : value }),
  ),
  "--metrics": flag("metrics"),
  "--slots": flag("slots"),
  "--alias": text("alias"),
  "--host": text("host"),
  "--port": integer("port"),
  "--api-prefix": text("apiPrefix"),
  "--threads": integer("threads"),
};

/** Options whose values on one command line add up; of all others the last one counts. */
export const addingFields: ReadonlySet<keyof LaunchOptions> = new Set([
  "overrideTensor",
  "overrideKv",
  "chatTemplateKwargs",
  "lora",
  "rpc",
]);
