export type FlashAttn = "on" | "off" | "auto";
export type SplitMode = "none" | "layer" | "row" | "tensor";

/** Where a value came from; later ones win over earlier ones: config file < environment < preset < command line. */
export type OptionOrigin =
  | { readonly kind: "commandLine"; readonly flag: string }
  /** A `config.ini` of the system or the user. */
  | { readonly kind: "config"; readonly file: string; readonly key: string }
  | { readonly kind: "environment"; readonly variable: string }
  | { readonly kind: "preset"; readonly section: string; readonly key: string; readonly line: number }
  | { readonly kind: "server"; readonly endpoint: string };

export interface TensorOverride {
  /** llama.cpp's regular expression over tensor names. */
  readonly pattern: string;
  readonly buffer: string;
}

/** `--chat-template` or `--chat-template-file`, whichever came last. */
export type ChatTemplateOption =
  { readonly kind: "text"; readonly text: string } | { readonly kind: "file"; readonly path: string };

/** llama-server's own values of options whose value is needed where none was given (common/common.h). */
export const serverDefaults = { batchSize: 2048, ubatchSize: 512, cacheType: "f16" } as const;

/**
 * What a llama-server command line says about memory and context. An absent field was not given: llama.cpp's default
 * holds, and `-fit` may change it. Field names are llama-server's long option names.
 */
export interface LaunchOptions {
  readonly model?: string;
  readonly hfRepo?: string;
  readonly hfFile?: string;
  readonly modelUrl?: string;
  readonly dockerRepo?: string;
  /** Router mode: the model presets' file and the models' folder. */
  readonly modelsPreset?: string;
  readonly modelsDir?: string;
  readonly lora?: readonly string[];
  readonly mmproj?: string;
  readonly mmprojUrl?: string;
  /** false: `--no-mmproj`, the projector beside a downloaded model is not used. */
  readonly mmprojAuto?: boolean;
  readonly mmprojOffload?: boolean;
  readonly mmprojDevice?: string;
  readonly imageMinTokens?: number;
  readonly imageMaxTokens?: number;
  /** 0 written explicitly asks for the whole training context and keeps `-fit` from reducing it. */
  readonly ctxSize?: number;
  /** -1: auto (four slots, unified). */
  readonly parallel?: number;
  readonly kvUnified?: boolean;
  readonly kvUnifiedPerSlot?: number;
  readonly batchSize?: number;
  readonly ubatchSize?: number;
  readonly flashAttn?: FlashAttn;
  readonly cacheTypeK?: string;
  readonly cacheTypeV?: string;
  readonly swaFull?: boolean;
  readonly kvOffload?: boolean;
  readonly opOffload?: boolean;
  readonly repack?: boolean;
  readonly noHost?: boolean;
  readonly loadMode?: string;
  readonly lazyMode?: string;
  readonly gpuLayers?: number | "auto" | "all";
  readonly splitMode?: SplitMode;
  readonly tensorSplit?: readonly number[];
  readonly mainGpu?: number;
  /** Empty: `-dev none`. */
  readonly devices?: readonly string[];
  readonly rpc?: readonly string[];
  readonly overrideTensor?: readonly TensorOverride[];
  readonly cpuMoe?: boolean;
  readonly nCpuMoe?: number;
  readonly nCpuFfn?: number;
  readonly moeCacheMib?: number;
  readonly fit?: boolean;
  /** MiB per device. */
  readonly fitTarget?: readonly number[];
  readonly fitCtx?: number;
  /** MiB; -1 no limit, 0 off. */
  readonly cacheRam?: number;
  readonly ctxCheckpoints?: number;
  readonly checkpointMinStep?: number;
  readonly contextShift?: boolean;
  readonly keep?: number;
  readonly cachePrompt?: boolean;
  readonly cacheReuse?: number;
  readonly slotPromptSimilarity?: number;
  readonly specType?: readonly string[];
  readonly specDraftModel?: string;
  readonly specDraftHfRepo?: string;
  readonly specDraftDevices?: readonly string[];
  readonly specDraftNMax?: number;
  readonly specNgramSimpleSizeM?: number;
  readonly specNgramMapKSizeM?: number;
  readonly specNgramMapK4vSizeM?: number;
  readonly specNgramModNMax?: number;
  readonly specDraftNMin?: number;
  readonly specDraftTypeK?: string;
  readonly specDraftTypeV?: string;
  readonly specDraftNgl?: number | "auto" | "all";
  readonly specDraftNUbatch?: number;
  readonly specDraftBackendSampling?: boolean;
  readonly ropeScaling?: string;
  /** Also what `--rope-freq-scale`, its reciprocal, sets. */
  readonly ropeScale?: number;
  readonly ropeFreqBase?: number;
  readonly yarnOrigCtx?: number;
  readonly overrideKv?: readonly string[];
  readonly embedding?: boolean;
  readonly reranking?: boolean;
  readonly pooling?: string;
  readonly chatTemplate?: ChatTemplateOption;
  /** false: llama.cpp's built-in templates instead of a Jinja interpreter. */
  readonly jinja?: boolean;
  /** Variables for the template, each a JSON object; reasoning options are among them. */
  readonly chatTemplateKwargs?: readonly string[];
  readonly metrics?: boolean;
  readonly slots?: boolean;
  readonly apiPrefix?: string;
  readonly threads?: number;
  readonly alias?: string;
  readonly host?: string;
  readonly port?: number;
}
