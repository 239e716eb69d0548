import { bytes, count, say, type Text, type TextArg } from "../text";
import { catalogue, type Entry } from "./cause";
import { fewerLayers, quantisedCache, smallerContext, smallerWeights } from "./remedies";

/** Memory that was asked for and not there. */
export interface Allocation {
  readonly device: TextArg;
  /** What was asked for, if it is known. */
  readonly bytes?: number;
  /** It was to be in main memory: nothing can be moved off it to a full device. */
  readonly host?: boolean;
}

/** How logs name where memory was asked for, in words. */
export const mainMemory = say`Main memory`;
export const vulkanDevice = say`The Vulkan device`;
export const someDevice = say`The device`;
export const numberedDevice = (index: string): Text => say`Device ${index}`;

/** What a compute buffer was for, as far as the log says. */
export interface ComputeContext {
  /** Several GPUs work one after the other. */
  readonly pipelined: boolean;
  readonly flashAttn?: string;
}

/** The context that a KV cache is for. */
export interface CachedContext {
  readonly nCtx?: number;
  readonly quantised?: boolean;
}

const otherPrograms = say`Other programs may also be using memory.`;
const smallerBuffer = say`Turn flash attention on (-fa on), or lower -ub or -c, so that the largest single buffer becomes smaller.`;

const cacheRemedies = ({ nCtx, quantised }: CachedContext): readonly Text[] =>
  quantised === true
    ? [smallerContext]
    : [quantisedCache, smallerContext, ...(nCtx === undefined ? [] : [say`It is ${count(nCtx)} now.`])];

const deviceFull = (where: Allocation, { pipelined, flashAttn }: ComputeContext): Entry => ({
  sentence:
    where.bytes === undefined
      ? say`${where.device} is full: memory requested while working could not be allocated.`
      : where.host === true
        ? say`${where.device} has no room for ${bytes(where.bytes)} of compute buffer.`
        : say`${where.device} is full: the last ${bytes(where.bytes)} could not be allocated. Every device in a split needs its own compute buffer.`,
  remedies: [
    ...(flashAttn === "off"
      ? [
          say`Turn flash attention on (-fa on): without it the attention scores grow with -ub times the context.`,
        ]
      : []),
    ...(pipelined
      ? [
          say`Several GPUs work as a pipeline and keep copies of their inputs: lower -ub, put fewer layers on the smallest device (-ts), or use one device (-sm none).`,
        ]
      : where.host === true
        ? [say`Lower -ub (512, 256) or -c.`, otherPrograms]
        : [
            say`Lower -ub (512, 256), use flash attention, put fewer layers on this device (-ngl, -ts), or lower -c.`,
            otherPrograms,
          ]),
  ],
});

/** Memory that is full, by what filled it. */
export const memoryCauses = catalogue({
  weightsFill: () =>
    ({
      sentence: say`The weights leave hardly any memory for the KV cache.`,
      change: "weights",
      remedies: [smallerWeights, fewerLayers],
    }) as const,
  weightsOutOfMemory: (where?: Allocation): Entry => ({
    sentence:
      where === undefined
        ? say`There is no room for the model's weights.`
        : where.bytes === undefined
          ? say`${where.device} has no room for the model's weights.`
          : say`${where.device} has no room for ${bytes(where.bytes)} of the model's weights.`,
    remedies:
      where?.host === true
        ? [
            smallerWeights,
            say`Put more layers on a GPU (-ngl), or let the file be mapped (-lm mmap).`,
            otherPrograms,
          ]
        : [smallerWeights, fewerLayers, otherPrograms],
  }),
  cacheFills: (where?: Allocation, context: CachedContext = {}) =>
    ({
      sentence:
        where === undefined
          ? say`The weights fit, but the KV cache needs more memory than they leave.`
          : where.bytes === undefined
            ? say`${where.device} has no room for the KV cache in addition to the weights.`
            : say`${where.device} has no room for ${bytes(where.bytes)} of KV cache in addition to the weights.`,
      change: "kvCache",
      remedies: cacheRemedies(context),
    }) as const,
  stateOutOfMemory: (where: Allocation): Entry => ({
    sentence: say`${where.device} has no room for the recurrent state, which is needed once per slot (and once more per drafted token).`,
    remedies: [say`Set fewer slots (-np 1), or a smaller --spec-draft-n-max.`],
  }),
  computeOutOfMemory: deviceFull,
  deviceOutOfMemory: deviceFull,
  oneDeviceFull: () =>
    ({
      sentence: say`One device is full while another still has memory: devices are not one pool.`,
      change: "placement",
      remedies: [say`Change only the split (-ts) or the placement (-ngl, -ot).`],
    }) as const,
  absurdAllocation: (size: number): Entry => ({
    sentence: say`${bytes(size)} was requested at once, more than any device has: the attention scores of the whole context without flash attention, or copies of them for several GPUs.`,
    remedies: [
      say`Turn flash attention on (-fa on), lower -ub, and set an explicit -c. With several GPUs try -sm none or fewer devices.`,
    ],
  }),
  addressSpace: (): Entry => ({
    sentence: say`CUDA could not reserve address space for its memory pool (32 GiB of addresses, not of memory). This is not a lack of VRAM.`,
    remedies: [say`Restart the program or the machine; if it comes back, use a build with GGML_CUDA_NO_VMM.`],
  }),
  runtimeOutOfMemory: (): Entry => ({
    sentence: say`The device ran out of memory while working: memory pools grow after startup, and other programs use memory too.`,
    remedies: [
      say`Leave more memory free (-fitt 2048), close other programs that use the device, put fewer layers on it, or lower -ub and -c.`,
    ],
  }),
  singleAllocationLimit: (size: number | undefined, quantised: boolean): Entry => ({
    sentence:
      size === undefined
        ? say`One buffer is larger than the driver allows for a single allocation (often 2 or 4 GiB). This is not a lack of memory.`
        : say`One buffer of ${bytes(size)} is larger than the driver allows for a single allocation. This is not a lack of memory.`,
    remedies: [
      quantised
        ? say`Lower -ub or -c, turn flash attention on, or go back to an f16 KV cache: a quantised one can need a larger compute buffer.`
        : smallerBuffer,
    ],
  }),
  metalOutOfMemory: (): Entry => ({
    sentence: say`The GPU may use only part of this Mac's memory, and that part is full.`,
    remedies: [
      say`Set a smaller -c or -ub, quantise the KV cache, or use a smaller model; the limit can be raised with sysctl iogpu.wired_limit_mb.`,
    ],
  }),
  wholeTrainingContext: (size: number, nCtx: number): Entry => ({
    sentence: say`${bytes(size)} was requested: the context is the model's whole training context, ${count(nCtx)} token[s].`,
    remedies: [say`Set an explicit context, for example -c 32768.`],
  }),
  projectorOutOfMemory: (where: Allocation): Entry => ({
    sentence:
      where.bytes === undefined
        ? say`${where.device} has no room for the multimodal projector.`
        : say`${where.device} has no room for ${bytes(where.bytes)} of the multimodal projector.`,
    remedies: [
      ...(where.host === true ? [] : [say`Keep it in main memory (--no-mmproj-offload).`]),
      say`Limit the tokens of an image (--image-max-tokens), use a smaller mmproj file, or start without it (--no-mmproj).`,
    ],
  }),
  hostOutOfMemory: (size: number, context: CachedContext): Entry => ({
    sentence: say`${bytes(size)} of main memory could not be allocated.`,
    remedies: [...cacheRemedies(context), otherPrograms],
  }),
  pipelineGivenUp: (): Entry => ({
    sentence: say`The GPUs have no room to work as a pipeline; the server went on without.`,
    remedies: [
      say`Nothing has to be done. With a smaller -ub or -c the pipeline may fit, which reads prompts faster.`,
    ],
  }),
  killedBySystem: (): Entry => ({
    sentence: say`The machine's main memory ran out. A server grows after startup: prompt cache (--cache-ram, 8 GiB by default) and context checkpoints, up to 32 per slot, which are large for recurrent and sliding-window models.`,
    remedies: [
      say`Limit them: --cache-ram 0 or 2048, --ctx-checkpoints 4; and leave room for weights that are not on a GPU.`,
    ],
  }),
  checkpointsGrow: (size: number, limit: number): Entry => ({
    sentence: say`The prompt cache in main memory holds ${bytes(size)}, more than its limit of ${bytes(limit)}: one conversation is kept whole with its context checkpoints.`,
    remedies: [
      say`Lower --ctx-checkpoints (32 by default) or --cache-ram, or turn the cache off with --cache-ram 0.`,
    ],
  }),
  hostMemoryGrows: (): Entry => ({
    sentence: say`The server's main memory grows with use: it keeps prompts (--cache-ram, 8 GiB by default) and, for recurrent and sliding-window models, up to 32 context checkpoints per slot, which are copied into that cache as well.`,
    remedies: [say`Limit both: --ctx-checkpoints 4 and --cache-ram 2048 (0 switches it off).`],
  }),
  pinnedMemory: (size?: number): Entry => ({
    sentence:
      size === undefined
        ? say`Main memory could not be pinned for the GPU; ordinary memory is used, or loading fails.`
        : say`${bytes(size)} of main memory could not be pinned for the GPU; ordinary memory is used, or loading fails.`,
    remedies: [
      say`Lower -ub or -c, use one device (-sm none) instead of a pipeline of several, or free main memory.`,
    ],
  }),
  mlockFailed: (): Entry => ({
    sentence: say`The system does not allow this program to lock the weights in memory.`,
    remedies: [say`Raise the limit (ulimit -l unlimited), or start without mlock (-lm mmap).`],
  }),
  outOfMemory: (severalSlots: boolean): Entry => ({
    sentence: say`Memory ran out. With several slots, each has its own share of the context (and of the recurrent state), and a new build may need more than a manual split allows.`,
    remedies: [
      severalSlots
        ? say`Set fewer slots (-np 1), a smaller -c or -ub, or put fewer layers on the full device (-ts).`
        : say`Set a smaller -c or -ub, quantise the KV cache, or put fewer layers on the full device.`,
    ],
  }),
  outOfMemoryAtLength: (tokens: number) =>
    ({
      sentence: say`The server ran out of memory at ${count(tokens)} token[s]; which device was full is unknown.`,
      change: "nothing",
      remedies: [
        say`Monitor the free memory of every device from loading on, and repeat.`,
        say`Full right after loading: use smaller weights. Full as the length grows: use a smaller KV cache type.`,
      ],
    }) as const,
  tightMemory: () =>
    ({
      sentence: say`It passed, but with less free memory than the plan requires.`,
      change: "kvCache",
      remedies: [say`Try a smaller KV cache type or a lower target; leave the rest unchanged.`],
    }) as const,
  computeGrew: (device: string, size: number, expected: number): Entry => ({
    sentence: say`At work, the compute buffer on ${device} became ${bytes(size)} instead of ${bytes(expected)}.`,
    remedies: [say`Leave more memory free on this device than it seems to need at the start (-fitt).`],
  }),
  pipelineParallel: (): Entry => ({
    sentence: say`Several GPUs work as a pipeline; each keeps up to four copies of its inputs, which makes compute buffers larger and leaves -fit less for the context.`,
    remedies: [say`If memory is short, lower -ub, or use one device (-sm none).`],
  }),
  mtpWeightsUnused: (): Entry => ({
    sentence: say`The model contains layers for drafting tokens (MTP); they are not loaded.`,
    remedies: [say`Start with --spec-type draft-mtp to use them; they need their own memory and KV cache.`],
  }),
  fitImpossible: (why: FitFailure): Entry => ({
    sentence: fitSentence(why),
    remedies: [
      say`Remove -ngl, -ts and -ot from the command line so that -fit can place layers, or set a smaller -c yourself; the context may otherwise be reduced to 4096.`,
    ],
  }),
  fitCannotMeet: (mebibytes: string): Entry => ({
    sentence: say`${mebibytes} MiB too much for the device: -fit moves layers to main memory or reduces the context.`,
    remedies: [
      say`Make the model fit yourself if speed matters: a smaller -c, -np 1, -ub 512 or a quantised KV cache.`,
    ],
  }),
  fitZeroContext: (): Entry => ({
    sentence: say`If nothing needs to change, the fit step leaves the context at 0, which means the model's own context length.`,
    remedies: [say`Treat 0 as the training context, or set n_ctx.`],
  }),
});

/** Why `-fit` gave up, in the words of its warning. */
export type FitFailure =
  | { readonly kind: "layersSet"; readonly layers: string }
  | { readonly kind: "splitSet" }
  | { readonly kind: "splitMode" }
  | { readonly kind: "noPlacement"; readonly words: string };

function fitSentence(why: FitFailure): Text {
  switch (why.kind) {
    case "layersSet":
      return say`-fit could not move layers because -ngl ${why.layers} is set.`;
    case "splitSet":
      return say`-fit could not move layers because -ts or -ot is set.`;
    case "splitMode":
      return say`-fit does not support this split mode.`;
    case "noPlacement":
      return say`-fit found no placement: ${why.words}.`;
  }
}
