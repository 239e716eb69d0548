import type { TrainedContext } from "../model/model";
import { buildHas } from "./builds";
import type { LaunchOptions } from "./launchOptions";

/** llama.cpp's `n_ctx_train`, in tokens, at two moments. */
export interface TrainingContext {
  /** While the context is made: what `-c 0` asks for. */
  readonly atLoad: number;
  /** After it: what `-fit` takes for `-c 0`, and what limits a slot. */
  readonly limit: number;
}

/**
 * `--override-kv` replaces what the header says. YaRN with a scale other than the model's own then sets `n_ctx_train` to
 * original context / frequency scale, in single precision (`llama_init_from_model`); other kinds of scaling do not.
 */
export function trainingContext(
  options: LaunchOptions,
  trained: TrainedContext,
  build?: number,
): TrainingContext {
  const said = overridden(options, trained);
  const atLoad = said.contextLength;
  const { rope } = said;
  if (rope === undefined || !buildHas(build, "yarnLiftsTraining")) return { atLoad, limit: atLoad };
  const type = options.ropeScaling ?? rope.type;
  const own = frequencyScale(rope.factor);
  const scale = frequencyScale(options.ropeScale, own);
  if (type !== "yarn" || scale === own) return { atLoad, limit: atLoad };
  const original = positive(options.yarnOrigCtx) ?? positive(rope.originalContext) ?? atLoad;
  return { atLoad, limit: Math.trunc(Math.fround(original / scale)) };
}

/** `rope_freq_scale`; a factor of 0 in a header means 1, at the command line 1 / 0. */
function frequencyScale(factor: number | undefined, otherwise = 1): number {
  if (factor === undefined || factor === Infinity) return otherwise;
  return Math.fround(1 / factor);
}

const positive = (value: number | undefined): number | undefined =>
  value !== undefined && value > 0 ? value : undefined;

function overridden({ overrideKv = [] }: LaunchOptions, trained: TrainedContext): TrainedContext {
  let { contextLength, rope } = trained;
  for (const override of overrideKv) {
    const [, key, value] = /^[^=]*\.(context_length|rope\.scaling\.\w+)=\w+:(.*)$/.exec(override) ?? [];
    const number = Number(value);
    // llama.cpp keeps it in 32 bits
    if (key === "context_length" && /^\d+$/.test(value ?? "") && number < 2 ** 32) contextLength = number;
    if (rope === undefined || value === undefined) continue;
    if (key === "rope.scaling.type") rope = { ...rope, type: value };
    if (key === "rope.scaling.factor" && number > 0) rope = { ...rope, factor: number };
    if (key === "rope.scaling.original_context_length") rope = { ...rope, originalContext: number };
  }
  return { contextLength, ...(rope && { rope }) };
}
/** The factor of `--rope-scale` that makes YaRN's limit hold so many tokens; undefined where nothing is known to extend. */
export function yarnFactorFor(
  tokens: number,
  options: LaunchOptions,
  trained: TrainedContext,
): number | undefined {
  const { contextLength, rope } = overridden(options, trained);
  const original = positive(options.yarnOrigCtx) ?? positive(rope?.originalContext) ?? contextLength;
  return original === 0 || rope === undefined ? undefined : Math.ceil(tokens / original);
}
