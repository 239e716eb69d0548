import type { TrainedContext } from "../model/model";
import { buildHas } from "./builds";
import type { LaunchOptions } from "./launchOptions";
import { trainingContext } from "./trainingContext";

/** How llama-server divides its context; all figures in tokens (= cells). */
export interface SlotContext {
  /** `n_ctx` of the whole context: cells of all streams together. */
  readonly nCtx: number;
  /** `n_ctx_seq`: cells of one stream. Memory is `nCtxSeq × streams` cells, whatever a slot may use of them. */
  readonly nCtxSeq: number;
  /** KV cache streams: one where the cache is unified, else one per slot. */
  readonly streams: number;
  readonly slots: number;
  /** All slots share one pool of `nCtx` cells. */
  readonly unified: boolean;
  /** What one request may hold, prompt and answer together: `n_ctx` of a slot. */
  readonly nCtxPerSlot: number;
  /** The training context, which limits a slot: the header's, unless YaRN or `--override-kv` says otherwise. */
  readonly trainingContext: number;
  /** The slot is held to the model's training context although more cells are allocated. */
  readonly cappedByTraining: boolean;
  /** `-c` was not given, so `-fit` may reduce `nCtx` at load where memory is short. */
  readonly fitMayReduce: boolean;
}

export const autoSlots = 4;

const pad256 = (cells: number): number => Math.ceil(cells / 256) * 256;

/**
 * From launch options to what one slot may hold, as llama-server computes it (`tools/server/server.cpp` for the slots,
 * `src/llama-context.cpp` for padding and division, `tools/server/server-context.cpp` for the cap).
 *
 * `trained` is what the header says, or a number that a running server reports as its training context. `build` is
 * llama.cpp's build number (11669); absent means a current one. `-fit` can reduce `nCtx` further: see `fitMayReduce`.
 */
export function slotContext(
  options: LaunchOptions,
  trained: TrainedContext | number,
  build?: number,
): SlotContext {
  const pad = buildHas(build, "padding") ? pad256 : (cells: number): number => cells;
  const { atLoad, limit } = trainingContext(
    options,
    typeof trained === "number" ? { contextLength: trained } : trained,
    build,
  );

  const auto = options.parallel === undefined || options.parallel < 0;
  const autoUnified = auto && buildHas(build, "autoSlots");
  const slots = autoUnified ? autoSlots : auto ? 1 : Math.max(1, options.parallel ?? 1);
  const perSlot = positive(options.kvUnifiedPerSlot);
  const unified = autoUnified || options.kvUnified === true;

  const asked = positive(options.ctxSize);
  const fits = options.fit !== false && buildHas(build, "fit");
  const trainForEach = fits && buildHas(build, "fitPerSlot") && !unified;
  // -fit makes a context first, and takes what that left
  const whole = fits ? limit : atLoad;
  const wanted = asked ?? (perSlot !== undefined ? slots * perSlot : trainForEach ? whole * slots : whole);

  const padded = pad(wanted);
  const nCtxSeq = unified ? padded : pad(Math.floor(padded / slots));
  const streams = unified ? 1 : slots;
  const trainingCap = buildHas(build, "trainingCap") ? limit : Infinity;
  return {
    nCtx: nCtxSeq * streams,
    nCtxSeq,
    streams,
    slots,
    unified,
    nCtxPerSlot: Math.min(nCtxSeq, trainingCap, perSlot ?? Infinity),
    trainingContext: limit,
    cappedByTraining: nCtxSeq > trainingCap,
    fitMayReduce: fits && options.ctxSize === undefined && perSlot === undefined,
  };
}

const positive = (value: number | undefined): number | undefined =>
  value !== undefined && value > 0 ? value : undefined;
