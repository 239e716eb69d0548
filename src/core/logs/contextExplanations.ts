import { causes } from "../causes/causes";
import { isQuantised } from "../launch/launchRules";
import type { Explanation } from "./logEvent";
import { parseMebibytes } from "./reading/logLine";

/** What failed in front of this was tried again in another way, so it is no failure. */
export const recovery = /buffer allocation failed, retrying without pipeline parallelism/;

/** Explanations of limits of the context, of KV types and of work done twice. */
export const contextExplanations: readonly Explanation[] = [
  {
    severity: "error",
    pattern: /request \((\d+) tokens\) exceeds the available context size \((\d+) tokens\)/,
    explain: (match, _line, { facts: { slots } }) => {
      const long = { prompt: Number(match[1]), nCtx: Number(match[2]) };
      return slots !== undefined && slots.count > 1 && slots.unified === false
        ? causes.contextDivided({ ...long, slots: slots.count })
        : causes.contextTooSmall(long);
    },
  },
  {
    severity: "error",
    pattern: /input \((\d+) tokens\) is larger than the max context size \((\d+) tokens\)/,
    explain: (match) => causes.contextTooSmall({ prompt: Number(match[1]), nCtx: Number(match[2]) }),
  },
  {
    // LM Studio, llama-cpp-python
    severity: "error",
    pattern:
      /keep the first (\d+) tokens when context.{0,80}context length of only (\d+) tokens|Requested tokens \((\d+)\) exceed context window of (\d+)/,
    explain: (match) =>
      causes.contextTooSmall({
        prompt: Number(match[1] ?? match[3]),
        nCtx: Number(match[2] ?? match[4]),
      }),
  },
  {
    severity: "error",
    pattern:
      /the request exceeds the available context size|exceed_context_size_error|input is too large to process|prompt is too (?:long|big)/,
    explain: (_, line, log) => {
      const near = log.around(line, 12, 2);
      const [prompt, nCtx] = [
        /(?:n_prompt_tokens|task\.n_tokens)["\s]*[=:]\s*(\d+)/.exec(near)?.[1],
        /n_ctx(?:_slot)?["\s]*[=:]\s*(\d+)/.exec(near)?.[1],
      ];
      return prompt === undefined || nCtx === undefined
        ? causes.contextTooSmall()
        : causes.contextTooSmall({ prompt: Number(prompt), nCtx: Number(nCtx) });
    },
  },
  {
    severity: "error",
    pattern: /Context size has been exceeded/,
    explain: () => causes.contextPoolFull(),
  },
  {
    severity: "warning",
    pattern:
      /failed to find (?:a memory slot for batch|free space in the KV cache)|find_slot: n_tokens|failed to prepare attention ubatches/,
    explain: () => causes.noCacheSlot(),
  },
  {
    severity: "error",
    pattern: /input \((\d+) tokens\) is too large to process.*current batch size: (\d+)/,
    explain: (match) => causes.batchTooSmall(Number(match[1]), Number(match[2])),
  },
  {
    severity: "error",
    pattern: /failed to decode the batch, n_batch = \d+, ret = (-\d+)/,
    explain: ([, code = ""]) => causes.batchNotComputed(code),
  },
  {
    severity: "warning",
    pattern: /stop processing: n_(?:tokens|past) = (\d+), truncated = 1/,
    explain: (match) => causes.answerCut(Number(match[1])),
  },
  {
    severity: "warning",
    pattern: /the slot context \((\d+)\) exceeds the training context of the model \((\d+)\)/,
    explain: (match) => causes.slotContextCapped(Number(match[1]), Number(match[2])),
  },
  {
    severity: "information",
    pattern: /n_ctx is not divisible by n_seq_max - rounding (?:down )?to (\d+)/,
    explain: (match) => causes.contextRounded(Number(match[1])),
  },
  {
    severity: "warning",
    pattern: /context size reduced from (\d+) to (\d+)/,
    explain: (match) => causes.contextReducedByFit(Number(match[1]), Number(match[2])),
  },
  {
    severity: "information",
    pattern: /n_ctx_(?:per_)?seq \((\d+)\) < n_ctx_train \((\d+)\)/,
    explain: (match, line, log) => {
      const [nCtx, trained] = [Number(match[1]), Number(match[2])];
      const slots = Number(/n_seq_max\s*= (\d+)/.exec(log.around(line, 14, 0))?.[1] ?? 1);
      const fitted = log.earlier(line, /failed to fit params to free|context size reduced/) !== undefined;
      return nCtx === 4096 && (fitted || slots <= 1)
        ? causes.contextFellTo4096(trained, fitted)
        : causes.contextBelowTraining(nCtx, trained, slots);
    },
  },
  {
    severity: "warning",
    pattern: /n_ctx_(?:per_)?seq \((\d+)\) > n_ctx_train \((\d+)\)/,
    explain: (match) => causes.contextAboveTraining(Number(match[1]), Number(match[2])),
  },
  {
    severity: "information",
    pattern: /--fit:? on\b/,
    explain: () => causes.fitOn(),
  },
  {
    severity: "information",
    pattern: /n_parallel is set to auto, using n_parallel = (\d+) and kv_unified = true/,
    explain: (match) => causes.slotsAutomatic(Number(match[1])),
  },
  {
    severity: "error",
    pattern:
      /V cache quantization requires flash_attn|quantized V cache (?:requires|was requested, but this requires) [Ff]lash/,
    explain: (_, line, log) => {
      const impossible =
        /flash_attn is not compatible with Grok|flash_attn requires n_embd_head_k == n_embd_head_v/;
      if (log.earlier(line, impossible) !== undefined) return causes.quantisedVWithoutFlashAttn();
      const [kv] = log.facts.contexts.flatMap((context) => context.kv);
      return kv !== undefined && isQuantised(kv.typeV) && kv.typeK !== kv.typeV
        ? causes.quantisedVNeedsFlashAttn({ k: kv.typeK ?? "", v: kv.typeV ?? "" })
        : causes.quantisedVNeedsFlashAttn();
    },
  },
  {
    severity: "error",
    pattern: /([KV]) cache type (\w+) with block size (\d+) does not divide n_embd_head_[kv]\s*=\s*(\d+)/,
    explain: ([, cache = "", type = "", block, head]) =>
      causes.quantisedHeadDimension(cache, type, Number(block), Number(head)),
  },
  {
    severity: "error",
    pattern: /CUDA error 1 at .{0,300}invalid argument|CUDA error: invalid argument/,
    explain: (_, line, log) => {
      const types = /V \((q\w+|iq\w+)\)/.exec(log.around(line, 60, 0))?.[1];
      return types === undefined && log.facts.build !== undefined
        ? causes.cudaInvalidArgument()
        : causes.quantisedVNotImplemented();
    },
  },
  {
    severity: "warning",
    pattern:
      /flash_attn is not compatible with (\w+) - forcing off|flash_attn requires n_embd_head_k == n_embd_head_v - forcing off/,
    explain: () => causes.flashAttnForcedOff(),
  },
  {
    severity: "warning",
    pattern:
      /Flash Attention not supported, set to disabled|Flash Attention was auto, set to disabled|Flash Attention tensor is assigned to device (\S+)/,
    explain: (_, line, log) =>
      /set to disabled/.test(line.text)
        ? causes.flashAttnDisabled(deviceNote(log.around(line, 3, 0)))
        : undefined,
  },
  {
    severity: "information",
    pattern: /(?<!\S)(\S+)\s+compute buffer size =\s*([\d.,]+) MiB/,
    explain: (match, _line, { facts }) => {
      const size = parseMebibytes(match[2] ?? "");
      if (facts.contexts[0]?.flashAttn !== "off" || size < 2 ** 30) return undefined;
      return causes.computeWithoutFlashAttn(match[1] ?? "", size);
    },
  },
  {
    severity: "information",
    pattern: /KV cache on (?:the )?GPU.*--no-kv-offload/i,
    explain: () => causes.cacheInMainMemory(),
  },
  {
    severity: "warning",
    pattern: /fused Gated Delta Net \((\w+)\) not supported, set to disabled/,
    explain: (_, line, log) => causes.fusedKernelDisabled(deviceNote(log.around(line, 3, 0))),
  },
  {
    severity: "warning",
    pattern: /(?<!\S)(\S+)\s+compute buffer size of ([\d.]+) MiB, does not match expectation of ([\d.]+) MiB/,
    explain: ([, device = "", size = "", expected = ""]) =>
      causes.computeGrew(device, parseMebibytes(size), parseMebibytes(expected)),
  },
  {
    severity: "warning",
    pattern: /forcing full prompt re-processing due to lack of cache data/,
    explain: (_, _line, { facts }) => causes.promptReadAgain((facts.model?.nSwa ?? 0) > 0),
  },
  {
    severity: "information",
    pattern: recovery,
    explain: () => causes.pipelineGivenUp(),
  },
  {
    severity: "information",
    pattern: /pipeline parallelism enabled(?! \(n_copies=1\))/,
    explain: () => causes.pipelineParallel(),
  },
  {
    severity: "information",
    pattern: /model has unused tensor blk\.\d+\.nextn\S* .*ignoring/,
    explain: () => causes.mtpWeightsUnused(),
  },
];

function deviceNote(around: string): string {
  const found = /layer \d+ is assigned to device (\S+) but .*? is assigned to device (\S+)/.exec(around);
  return found === null ? "" : ` (${found[1] ?? ""}, ${found[2] ?? ""})`;
}
