/**
 * The build of llama.cpp from which something is so, as its source or public logs show. The newest one tried is b11669:
 * later builds are taken to behave like it.
 */
const firstBuilds = {
  /** `-fa` not given means auto. */
  flashAuto: 6325,
  /** Context checkpoints in host memory. */
  checkpoints: 6685,
  /** The prompt cache in host memory. */
  promptCache: 6723,
  /** Slots are limited to the training context. */
  trainingCap: 6925,
  /** `n_ctx` and `n_ctx_seq` are multiples of 256. */
  padding: 6975,
  /** `-fit`, on by default. */
  fit: 7407,
  /** `-np` unset means four slots on a unified cache. */
  autoSlots: 7433,
  /** Logits of only as many rows as can be asked for (`n_outputs_max`). */
  fewOutputs: 9460,
  /** A streamed response is kept alive while the prompt is read (pull request 24013). */
  ssePings: 9478,
  /** Before, they came from a pool that is not accounted for (`ggml_cuda_flash_attn_ext_get_alloc_size`). */
  flashCopies: 9489,
  /** A quantised V turns `-fa auto` on instead of failing. */
  forcedFlash: 10_206,
  /** `-fit` takes the training context for each slot. b10470 is the newest build that does not. */
  fitPerSlot: 10_471,
  /** YaRN lifts the training context (merged on 2026-08-30); b10754 is the oldest build that was seen to. */
  yarnLiftsTraining: 10_754,
  /** The graph has a branch for embeddings of its own. b11146 is the newest build whose buffers were seen without it. */
  mixedEmbeddings: 11_147,
} as const;

/** Whether a build does so; an unknown build is taken for a current one. */
export const buildHas = (build: number | undefined, feature: keyof typeof firstBuilds): boolean =>
  build === undefined || build >= firstBuilds[feature];

/**
 * The number of a build as llama.cpp's programs write it: llama-server `b11669-Debian`, `b7433 (abc)` or `11669`,
 * llama-bench `Debian (11669)`. Undefined where there is none.
 */
export function buildNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const digits = /^b?(\d{3,6})\b/.exec(text)?.[1] ?? /\((\d{3,6})\)$/.exec(text.trim())?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Whether both are the same build. What nobody knows is not the same. */
export function sameBuild(one: string, other: string): boolean {
  if (one === "" || other === "") return false;
  const [first, second] = [buildNumber(one), buildNumber(other)];
  return first !== undefined && second !== undefined ? first === second : one === other;
}
