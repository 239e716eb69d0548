import { isQuantised, pad256 } from "../launch/launchRules";
import { bytes, count, say } from "../text";
import type { Explanation } from "./logEvent";
import { parseMebibytes } from "./reading/logLine";

const tokens = (text: string | undefined) => count(Number(text ?? 0));

/** Explanations of limits of the context, of KV types and of work done twice. */
export const contextExplanations: readonly Explanation[] = [
  {
    kind: "contextExceeded",
    severity: "error",
    pattern: /request \((\d+) tokens\) exceeds the available context size \((\d+) tokens\)/,
    explain: (match, _line, { facts }) => {
      const [prompt, nCtx] = [Number(match[1]), Number(match[2])];
      const slots = facts.slots;
      const split = slots !== undefined && slots.count > 1 && slots.unified === false;
      return {
        cause: split
          ? say`The prompt has ${count(prompt)} token[s]; the context is divided among ${count(slots.count)} slot[s], and one holds ${count(nCtx)}.`
          : say`The prompt has ${count(prompt)} token[s]; one request may hold fewer than ${count(nCtx)}.`,
        remedy: split
          ? say`Set -np 1, or --kv-unified, or at least -c ${String(pad256(prompt + 1024) * slots.count)}; or send less.`
          : say`Start the server with at least -c ${String(pad256(prompt + 1024))}, or send less.`,
      };
    },
  },
  {
    kind: "contextExceeded",
    severity: "error",
    pattern:
      /the request exceeds the available context size|exceed_context_size_error|input is too large to process|prompt is too long/,
    explain: (_, line, log) => {
      const near = log.around(line, 12, 2);
      const [prompt, nCtx] = [
        /(?:n_prompt_tokens|task\.n_tokens)["\s]*[=:]\s*(\d+)/.exec(near)?.[1],
        /n_ctx(?:_slot)?["\s]*[=:]\s*(\d+)/.exec(near)?.[1],
      ];
      return {
        cause:
          prompt === undefined || nCtx === undefined
            ? say`The prompt does not fit into one slot: the context size divided by the number of slots.`
            : say`The prompt has ${tokens(prompt)} token[s]; one slot holds ${tokens(nCtx)}.`,
        remedy: say`Start the server with a larger -c (or fewer slots, -np 1), or send less. Older servers did not truncate the prompt either: the request fails.`,
      };
    },
  },
  {
    kind: "contextPoolFull",
    severity: "error",
    pattern: /Context size has been exceeded/,
    explain: () => ({
      cause: say`All slots share one KV cache, and the requests running at the same time filled it.`,
      remedy: say`Send fewer requests at once, use fewer slots (-np), or a larger -c.`,
    }),
  },
  {
    kind: "noCacheSlot",
    severity: "warning",
    pattern: /failed to find (?:a memory slot for batch|free space in the KV cache)|find_slot: n_tokens/,
    explain: () => ({
      cause: say`The KV cache is full; the server tries again with smaller batches.`,
      remedy: say`Set a larger -c, or use fewer slots at the same time.`,
    }),
  },
  {
    kind: "batchTooSmall",
    severity: "error",
    pattern: /input \((\d+) tokens\) is too large to process.*current batch size: (\d+)/,
    explain: (match) => ({
      cause: say`Embedding and reranking models read a text in one piece: ${tokens(match[1])} token[s], but the physical batch is ${tokens(match[2])}.`,
      remedy: say`Start with -ub ${match[1] ?? ""} -b ${match[1] ?? ""}, or send shorter texts.`,
    }),
  },
  {
    kind: "answerCut",
    severity: "warning",
    pattern: /stop processing: n_(?:tokens|past) = (\d+), truncated = 1/,
    explain: (match) => ({
      cause: say`The answer was cut off: with ${tokens(match[1])} token[s] the slot was full.`,
      remedy: say`Leave more room for the answer: a larger -c, or a shorter prompt.`,
    }),
  },
  {
    kind: "slotContextCapped",
    severity: "warning",
    pattern: /the slot context \((\d+)\) exceeds the training context of the model \((\d+)\)/,
    explain: (match) => ({
      cause: say`The model was trained on ${tokens(match[2])} token[s]; one slot holds no more, although memory for ${tokens(match[1])} is allocated.`,
      remedy: say`Set -c ${match[2] ?? ""} to save the memory. To use more, extend the context with YaRN: --rope-scaling yarn --rope-scale 2 doubles it.`,
    }),
  },
  {
    kind: "contextRounded",
    severity: "information",
    pattern: /n_ctx is not divisible by n_seq_max - rounding (?:down )?to (\d+)/,
    explain: (match) => ({
      cause: say`The context does not divide evenly among the slots; one sequence gets ${tokens(match[1])} token[s].`,
      remedy: say`Choose -c as a multiple of 256 times the number of slots.`,
    }),
  },
  {
    kind: "contextReducedByFit",
    severity: "warning",
    pattern: /context size reduced from (\d+) to (\d+)/,
    explain: (match) => ({
      cause: say`Memory was short and -c was not set, so -fit reduced the context from ${tokens(match[1])} to ${tokens(match[2])} token[s].`,
      remedy: say`Set -c yourself, quantise the KV cache (-ctk q8_0 -ctv q8_0), or free device memory.`,
    }),
  },
  {
    kind: "contextBelowTraining",
    severity: "information",
    pattern: /n_ctx_(?:per_)?seq \((\d+)\) < n_ctx_train \((\d+)\)/,
    explain: (match, line, log) => {
      const nCtx = Number(match[1]);
      const slots = Number(/n_seq_max\s*= (\d+)/.exec(log.around(line, 14, 0))?.[1] ?? 1);
      const fitted = log.earlier(line, /failed to fit params to free|context size reduced/) !== undefined;
      if (nCtx === 4096 && fitted) {
        return {
          kind: "contextFellTo4096",
          cause: say`-fit failed or ran out of room, and the context was reduced to the minimum of 4096 tokens, from ${tokens(match[2])}.`,
          remedy: say`Set -c yourself (-fit off does not change it), or make room: quantise the KV cache, lower -np or -ub.`,
        };
      }
      if (nCtx === 4096 && slots <= 1) {
        return {
          kind: "contextFellTo4096",
          cause: say`The context is 4096 tokens, but the model was trained on ${tokens(match[2])}. 4096 is the minimum that -fit leaves, so it may have been reduced silently.`,
          remedy: say`Set -c yourself: then -fit does not change it. If the whole training context fits, specify it in tokens.`,
        };
      }
      return {
        cause:
          slots > 1
            ? say`One sequence holds ${count(nCtx)} of the ${tokens(match[2])} token[s] the model was trained on; ${count(slots)} slot[s] [is|are] set up.`
            : say`The context is ${count(nCtx)} token[s], the model was trained on ${tokens(match[2])}.`,
        remedy: say`That is fine if your prompts are shorter. If not, set a larger -c or fewer slots (-np 1).`,
      };
    },
  },
  {
    kind: "contextAboveTraining",
    severity: "warning",
    pattern: /n_ctx_(?:per_)?seq \((\d+)\) > n_ctx_train \((\d+)\)/,
    explain: (match) => ({
      cause: say`The context is ${tokens(match[1])} token[s], but the model was trained on ${tokens(match[2])}: beyond that, answers get worse without any error.`,
      remedy: say`Set -c ${match[2] ?? ""} or less, or a RoPE scaling made for this model.`,
    }),
  },
  {
    kind: "fitOn",
    severity: "information",
    pattern: /--fit:? on\b/,
    explain: () => ({
      cause: say`With -fit on, a context that was not set is reduced silently when memory is short.`,
      remedy: say`Check n_ctx in /props, or set -c yourself.`,
    }),
  },
  {
    kind: "slotsAutomatic",
    severity: "information",
    pattern: /n_parallel is set to auto, using n_parallel = (\d+) and kv_unified = true/,
    explain: (match) => ({
      cause: say`${tokens(match[1])} slot[s] [was|were] created automatically and share[s|] one KV cache. Recurrent state and sliding-window caches are needed once per slot.`,
      remedy: say`If you work alone, -np 1 saves memory.`,
    }),
  },
  {
    kind: "quantisedVNeedsFlashAttn",
    severity: "error",
    pattern:
      /V cache quantization requires flash_attn|quantized V cache (?:requires|was requested, but this requires) [Ff]lash/,
    explain: (_, line, log) => {
      if (
        log.earlier(
          line,
          /flash_attn is not compatible with Grok|flash_attn requires n_embd_head_k == n_embd_head_v/,
        )
      ) {
        return {
          kind: "quantisedVWithoutFlashAttn",
          cause: say`This model's architecture works only without flash attention, and a quantised V cache needs it.`,
          remedy: say`Use -ctv f16 for this model; K may stay quantised.`,
        };
      }
      const [kv] = log.facts.contexts.flatMap((context) => context.kv);
      const mixed = kv !== undefined && isQuantised(kv.typeV) && kv.typeK !== kv.typeV;
      return {
        cause: mixed
          ? say`The KV cache is mixed (K ${kv.typeK ?? ""}, V ${kv.typeV ?? ""}): this build has no flash attention for the pair, and without it V cannot be quantised.`
          : say`A quantised V cache needs flash attention, which is off or not supported by this build or device for this model or this pair of types.`,
        remedy: say`Start with -fa on and the same type for K and V (q8_0 or q4_0), or use -ctv f16. CUDA builds with GGML_CUDA_FA_ALL_QUANTS support mixed pairs.`,
      };
    },
  },
  {
    kind: "quantisedHeadDimension",
    severity: "error",
    pattern: /([KV]) cache type (\w+) with block size (\d+) does not divide n_embd_head_[kv]\s*=\s*(\d+)/,
    explain: (match) => ({
      cause: say`Heads of ${tokens(match[4])} elements cannot be stored in ${match[2] ?? ""} blocks of ${tokens(match[3])}.`,
      remedy: say`Use f16 (or f32, bf16) for the ${match[1] ?? ""} cache of this model.`,
    }),
  },
  {
    kind: "quantisedVNotImplemented",
    severity: "error",
    pattern: /CUDA error 1 at .{0,300}invalid argument|CUDA error: invalid argument/,
    explain: (_, line, log) => {
      const types = /V \((q\w+|iq\w+)\)/.exec(log.around(line, 60, 0))?.[1];
      return types === undefined && log.facts.build !== undefined
        ? {
            kind: "cudaInvalidArgument",
            cause: say`A CUDA kernel was called with arguments it does not support, often an unsupported combination of KV types, a head size, or a build for another GPU.`,
            remedy: say`Try f16 for K and V, then -fa off, to find the cause; a newer build may have fixed it.`,
          }
        : {
            cause: say`This old build did not support a quantised V cache; for a quantised K, heads must also be a multiple of 32.`,
            remedy: say`Use -ctv f16, or a newer llama.cpp with flash attention on.`,
          };
    },
  },
  {
    kind: "flashAttnForcedOff",
    severity: "warning",
    pattern:
      /flash_attn is not compatible with (\w+) - forcing off|flash_attn requires n_embd_head_k == n_embd_head_v - forcing off/,
    explain: () => ({
      cause: say`This build does not support flash attention for this model's architecture.`,
      remedy: say`Expect larger compute buffers, and do not quantise V (-ctv f16).`,
    }),
  },
  {
    kind: "flashAttnDisabled",
    severity: "warning",
    pattern:
      /Flash Attention not supported, set to disabled|Flash Attention was auto, set to disabled|Flash Attention tensor is assigned to device (\S+)/,
    explain: (_, line, log) =>
      /set to disabled/.test(line.text)
        ? {
            cause: say`A device does not support flash attention for this model or these KV types${deviceNote(log.around(line, 3, 0))}.`,
            remedy: say`Use the same type for K and V (f16, q8_0 or q4_0); without flash attention the compute buffer grows with context times heads, and V cannot be quantised.`,
          }
        : undefined,
  },
  {
    kind: "computeWithoutFlashAttn",
    severity: "information",
    pattern: /(?<!\S)(\S+)\s+compute buffer size =\s*([\d.,]+) MiB/,
    explain: (match, _line, { facts }) => {
      const size = parseMebibytes(match[2] ?? "");
      if (facts.contexts[0]?.flashAttn !== "off" || size < 2 ** 30) return undefined;
      return {
        cause: say`Without flash attention the attention scores need ${bytes(size)} on ${match[1] ?? ""}; they grow with the context, wherever the KV cache itself is.`,
        remedy: say`Start with -fa on, or lower -ub.`,
      };
    },
  },
  {
    kind: "computeWithoutFlashAttn",
    severity: "information",
    pattern: /KV cache on (?:the )?GPU.*--no-kv-offload/i,
    explain: () => ({
      cause: say`With --no-kv-offload the KV cache is in main memory; what still grows on the GPU with the context is the compute buffer if flash attention is off.`,
      remedy: say`Start with -fa on, and check the lines with "KV buffer size" and "compute buffer size" for each device.`,
    }),
  },
  {
    kind: "fusedKernelDisabled",
    severity: "warning",
    pattern: /fused Gated Delta Net \((\w+)\) not supported, set to disabled/,
    explain: (_, line, log) => ({
      cause: say`A single recurrent layer on the CPU disables the fused kernel for the whole model${deviceNote(log.around(line, 3, 0))}: prefill gets slower and the compute buffer larger.`,
      remedy: say`Make all layers fit on the device: a smaller -ub or -c, -np 1, or a smaller quantisation.`,
    }),
  },
  {
    kind: "computeGrew",
    severity: "warning",
    pattern: /(?<!\S)(\S+)\s+compute buffer size of ([\d.]+) MiB, does not match expectation of ([\d.]+) MiB/,
    explain: (match) => ({
      cause: say`At work, the compute buffer on ${match[1] ?? ""} became ${bytes(parseMebibytes(match[2] ?? ""))} instead of ${bytes(parseMebibytes(match[3] ?? ""))}.`,
      remedy: say`Leave more memory free on this device than it seems to need at the start (-fitt).`,
    }),
  },
  {
    kind: "promptReadAgain",
    severity: "warning",
    pattern: /forcing full prompt re-processing due to lack of cache data/,
    explain: (_, _line, { facts }) => ({
      cause:
        (facts.model?.nSwa ?? 0) > 0
          ? say`The sliding-window cache keeps only the last tokens, so a prompt that changed further ahead is read again from the start.`
          : say`This model's state (sliding window or recurrent) cannot be rolled back to the point where the new prompt differs, so all of it is read again.`,
      remedy: say`Keep the long text unchanged at the front and in its own message, and let only the last message differ. --swa-full helps sliding-window models, at the price of a full-size cache; recurrent models need more --ctx-checkpoints. Some builds read everything again in spite of --swa-full: update.`,
    }),
  },
  {
    kind: "pipelineParallel",
    severity: "information",
    pattern: /pipeline parallelism enabled(?! \(n_copies=1\))/,
    explain: () => ({
      cause: say`Several GPUs work as a pipeline; each keeps up to four copies of its inputs, which makes compute buffers larger and leaves -fit less for the context.`,
      remedy: say`If memory is short, lower -ub, or use one device (-sm none).`,
    }),
  },
  {
    kind: "mtpWeightsUnused",
    severity: "information",
    pattern: /model has unused tensor blk\.\d+\.nextn\S* .*ignoring/,
    explain: () => ({
      cause: say`The model contains layers for drafting tokens (MTP); they are not loaded.`,
      remedy: say`Start with --spec-type draft-mtp to use them; they need their own memory and KV cache.`,
    }),
  },
];

function deviceNote(around: string): string {
  const found = /layer \d+ is assigned to device (\S+) but .*? is assigned to device (\S+)/.exec(around);
  return found === null ? "" : ` (${found[1] ?? ""}, ${found[2] ?? ""})`;
}
