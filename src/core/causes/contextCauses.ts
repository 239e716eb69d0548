import { count, say } from "../text";
import { catalogue, type Entry } from "./cause";

/** A prompt that was too long, as far as it is known; tokens. */
export interface TooLong {
  readonly prompt: number;
  /** What one request may hold. */
  readonly nCtx: number;
}

/** A context with room for the answer, as llama-server rounds it. */
const roomFor = (prompt: number): number => Math.ceil((prompt + 1024) / 256) * 256;

/** Limits of the context, and work done twice because of it. */
export const contextCauses = catalogue({
  contextTooSmall: (known?: Partial<TooLong>) =>
    ({
      sentence:
        known?.prompt === undefined || known.nCtx === undefined
          ? say`The prompt is longer than one request may be.`
          : say`The prompt has ${count(known.prompt)} token[s]; one request may hold fewer than ${count(known.nCtx)}.`,
      change: "length",
      remedies: [
        known?.prompt === undefined
          ? say`Start the server with a larger -c, or with fewer slots (-np 1), if memory allows it.`
          : say`Start the server with at least -c ${String(roomFor(known.prompt))}, if memory allows it.`,
        say`Send less.`,
      ],
    }) as const,
  contextDivided: ({ prompt, nCtx, slots }: TooLong & { readonly slots: number }) =>
    ({
      sentence: say`The context is divided: each of ${count(slots)} slot[s] has ${count(nCtx)} token[s], and the prompt has ${count(prompt)}.`,
      change: "length",
      remedies: [
        say`Start the server with -np 1, or with --kv-unified, or with at least -c ${String(roomFor(prompt) * slots)}.`,
      ],
    }) as const,
  contextReduced: (requested: number, nCtx: number) =>
    ({
      sentence: say`${count(requested)} token[s] [was|were] requested, but the server gives ${count(nCtx)}: it was limited to the model's training context or to what fits in memory.`,
      change: "length",
      remedies: [
        say`Check the log for a smaller training context (to be extended with --rope-scaling yarn) or for -fit.`,
      ],
    }) as const,
  contextShifted: () =>
    ({
      sentence: say`Context shift is on: when the context is full, the server discards the oldest tokens.`,
      change: "plan",
      remedies: [say`Start the server without --context-shift and with room for the answer.`],
    }) as const,
  answerRoom: (left: number) =>
    ({
      sentence: say`The prompt fits, but leaves only ${count(left)} token[s] for the answer.`,
      change: "length",
      remedies: [say`Raise -c or shorten the prompt so that thinking and answer have room.`],
    }) as const,
  beyondTraining: (prompt: number, trained: number) =>
    ({
      sentence: say`The prompt has ${count(prompt)} token[s], but the model was trained on ${count(trained)}: it does not know positions beyond that.`,
      change: "length",
      remedies: [say`Stay below it, or use the scaling recommended by the model's makers (YaRN).`],
    }) as const,
  contextPoolFull: (): Entry => ({
    sentence: say`All slots share one KV cache, and the requests running at the same time filled it.`,
    remedies: [say`Send fewer requests at once, use fewer slots (-np), or a larger -c.`],
  }),
  noCacheSlot: (): Entry => ({
    sentence: say`The KV cache is full; the server tries again with smaller batches.`,
    remedies: [say`Set a larger -c, or use fewer slots at the same time.`],
  }),
  batchTooSmall: (tokens: number, ubatch: number): Entry => ({
    sentence: say`Embedding and reranking models read a text in one piece: ${count(tokens)} token[s], but the physical batch is ${count(ubatch)}.`,
    remedies: [say`Start with -ub ${String(tokens)} -b ${String(tokens)}, or send shorter texts.`],
  }),
  embeddingBatch: (ubatch: number): Entry => ({
    sentence: say`An embedding text must fit into one physical batch: both batches become ${count(ubatch)} token[s].`,
    remedies: [say`Set -ub as large as your longest text.`],
  }),
  answerCut: (tokens: number): Entry => ({
    sentence: say`The answer was cut off: with ${count(tokens)} token[s] the slot was full.`,
    remedies: [say`Leave more room for the answer: a larger -c, or a shorter prompt.`],
  }),
  slotContextCapped: (allocated: number, trained: number): Entry => ({
    sentence: say`The model was trained on ${count(trained)} token[s]; one slot holds no more, although memory for ${count(allocated)} is allocated.`,
    remedies: [
      say`Set -c ${String(trained)} to save the memory. To use more, extend the context with YaRN: --rope-scaling yarn --rope-scale 2 doubles it.`,
    ],
  }),
  contextRounded: (nCtx: number): Entry => ({
    sentence: say`The context does not divide evenly among the slots; one sequence gets ${count(nCtx)} token[s].`,
    remedies: [say`Choose -c as a multiple of 256 times the number of slots.`],
  }),
  contextReducedByFit: (from: number, to: number): Entry => ({
    sentence: say`Memory was short and -c was not set, so -fit reduced the context from ${count(from)} to ${count(to)} token[s].`,
    remedies: [say`Set -c yourself, quantise the KV cache (-ctk q8_0 -ctv q8_0), or free device memory.`],
  }),
  contextFellTo4096: (trained: number, fitGaveUp: boolean): Entry =>
    fitGaveUp
      ? {
          sentence: say`-fit failed or ran out of room, and the context was reduced to the minimum of 4096 tokens, from ${count(trained)}.`,
          remedies: [
            say`Set -c yourself (-fit off does not change it), or make room: quantise the KV cache, lower -np or -ub.`,
          ],
        }
      : {
          sentence: say`The context is 4096 tokens, but the model was trained on ${count(trained)}. 4096 is the minimum that -fit leaves, so it may have been reduced silently.`,
          remedies: [
            say`Set -c yourself: then -fit does not change it. If the whole training context fits, specify it in tokens.`,
          ],
        },
  contextBelowTraining: (nCtx: number, trained: number, slots: number): Entry => ({
    sentence:
      slots > 1
        ? say`One sequence holds ${count(nCtx)} of the ${count(trained)} token[s] the model was trained on; ${count(slots)} slot[s] [is|are] set up.`
        : say`The context is ${count(nCtx)} token[s], the model was trained on ${count(trained)}.`,
    remedies: [
      say`That is fine if your prompts are shorter. If not, set a larger -c or fewer slots (-np 1).`,
    ],
  }),
  contextAboveTraining: (nCtx: number, trained: number): Entry => ({
    sentence: say`The context is ${count(nCtx)} token[s], but the model was trained on ${count(trained)}: beyond that, answers get worse without any error.`,
    remedies: [say`Set -c ${String(trained)} or less, or a RoPE scaling made for this model.`],
  }),
  fitOn: (): Entry => ({
    sentence: say`With -fit on, a context that was not set is reduced silently when memory is short.`,
    remedies: [say`Check n_ctx in /props, or set -c yourself.`],
  }),
  slotsAutomatic: (slots: number): Entry => ({
    sentence: say`${count(slots)} slot[s] [was|were] created automatically and share[s|] one KV cache. Recurrent state and sliding-window caches are needed once per slot.`,
    remedies: [say`If you work alone, -np 1 saves memory.`],
  }),
  shiftNotPossible: (): Entry => ({
    sentence: say`This model's cache cannot be shifted; the server continues without --context-shift.`,
    remedies: [say`Choose a context large enough for prompt and answer.`],
  }),
  promptReadAgain: (slidingWindow: boolean): Entry => ({
    sentence: slidingWindow
      ? say`The sliding-window cache keeps only the last tokens, so a prompt that changed further ahead is read again from the start.`
      : say`This model's state (sliding window or recurrent) cannot be rolled back to the point where the new prompt differs, so all of it is read again.`,
    remedies: [
      say`Keep the long text unchanged at the front and in its own message, and let only the last message differ. --swa-full helps sliding-window models, at the price of a full-size cache; recurrent models need more --ctx-checkpoints. Some builds read everything again in spite of --swa-full: update.`,
    ],
  }),
});
