import { remedyOf, smallerContext } from "../causes";
import { isQuantised } from "../launch/launchRules";
import { bytes, count, say, type Text } from "../text";
import type { Explained, Explanation, LogView } from "./logEvent";
import { parseMebibytes, type LogLine } from "./reading/logLine";

const mib = 2 ** 20;

/** Which buffer a failed allocation was for: the lines around say it. */
function purpose(line: LogLine, log: LogView): "weights" | "kv" | "compute" | "state" | undefined {
  const after = log.around(line, 0, 6);
  if (/kv cache|kv_cache|self-attention cache|KV buffer/i.test(after)) return "kv";
  if (/compute (?:pp |tg )?buffers|gallocr|graph_reserve|sched_reserve/.test(after)) return "compute";
  if (/rs cache|recurrent/i.test(after)) return "state";
  if (/load_tensors|model buffer|unable to allocate .* buffer|load_model/.test(after)) return "weights";
  const { contexts, weights } = log.facts;
  if (contexts.some((context) => context.kv.length > 0)) return "compute";
  return weights.length > 0 ? "kv" : undefined;
}

function contextHint({ facts }: LogView): Text {
  const [context] = facts.contexts;
  const nCtx = context?.nCtx;
  const quantised = isQuantised(context?.kv[0]?.typeK);
  if (quantised || nCtx === undefined) return smallerContext.advice;
  return say`${remedyOf("cacheFills")} It is ${count(nCtx)} now.`;
}

function deviceMemory(amount: number | undefined, device: string, line: LogLine, log: LogView): Explained {
  const what = purpose(line, log);
  const asked = amount === undefined ? undefined : bytes(amount);
  const pipelined = log.earlier(line, /pipeline parallelism enabled(?! \(n_copies=1\))/) !== undefined;
  if (amount !== undefined && amount > 200 * 1024 * mib) {
    return {
      kind: "absurdAllocation",
      cause: say`${bytes(amount)} was requested at once on ${device}, more than any device has: the attention scores of the whole context without flash attention, or copies of them for several GPUs.`,
      remedy: say`Turn flash attention on (-fa on), lower -ub, and set an explicit -c. With several GPUs try -sm none or fewer devices.`,
    };
  }
  switch (what) {
    case "weights":
      return {
        kind: "weightsOutOfMemory",
        cause: asked
          ? say`${device} has no room for ${asked} of the model's weights.`
          : say`${device} has no room for the model's weights.`,
        remedy: say`${remedyOf("weightsFill")} Other programs may also be using memory.`,
      };
    case "kv":
      return {
        kind: "kvOutOfMemory",
        cause: asked
          ? say`${device} has no room for ${asked} of KV cache in addition to the weights.`
          : say`${device} has no room for the KV cache in addition to the weights.`,
        remedy: contextHint(log),
      };
    case "state":
      return {
        kind: "stateOutOfMemory",
        cause: say`${device} has no room for the recurrent state, which is needed once per slot (and once more per drafted token).`,
        remedy: say`Set fewer slots (-np 1), or a smaller --spec-draft-n-max.`,
      };
    case "compute":
    case undefined:
      return {
        kind: what === "compute" ? "computeOutOfMemory" : "deviceOutOfMemory",
        cause: asked
          ? say`${device} is full: the last ${asked} could not be allocated. Every device in a split needs its own compute buffer.`
          : say`${device} is full: memory requested while working could not be allocated.`,
        remedy: pipelined
          ? say`Several GPUs work as a pipeline and keep copies of their inputs: lower -ub, put fewer layers on the smallest device (-ts), or use one device (-sm none).`
          : say`Lower -ub (512, 256), use flash attention, put fewer layers on this device (-ngl, -ts), or lower -c. Other programs may also be using memory.`,
      };
  }
}

const noted = (text: string | undefined): string => text ?? "";

/** Explanations of memory that was not there. */
export const memoryExplanations: readonly Explanation[] = [
  {
    kind: "deviceOutOfMemory",
    severity: "error",
    pattern: /allocating ([\d.]+) MiB on device (\d+): \w+ failed: out of memory/,
    explain: (match, line, log) =>
      deviceMemory(parseMebibytes(noted(match[1])), `device ${noted(match[2])}`, line, log),
  },
  {
    kind: "addressSpace",
    severity: "error",
    pattern: /cuMemAddressReserve/,
    explain: () => ({
      cause: say`CUDA could not reserve address space for its memory pool (32 GiB of addresses, not of memory). This is not a lack of VRAM.`,
      remedy: say`Restart the program or the machine; if it comes back, use a build with GGML_CUDA_NO_VMM.`,
    }),
  },
  {
    kind: "deviceOutOfMemory",
    severity: "error",
    pattern:
      /CUDA error: out of memory|hipErrorOutOfMemory|ROCm error: out of memory|CUDA error 2\b.*out of memory|cuMemCreate/,
    explain: (_, line, log) => {
      if (/cuMemAddressReserve/.test(log.around(line, 0, 5))) return undefined;
      return {
        kind: "runtimeOutOfMemory",
        cause: say`The device ran out of memory while working: memory pools grow after startup, and other programs use memory too.`,
        remedy: say`Leave more memory free (-fitt 2048), close other programs that use the device, put fewer layers on it, or lower -ub and -c.`,
      };
    },
  },
  {
    kind: "singleAllocationLimit",
    severity: "error",
    pattern:
      /Requested buffer size exceeds device (?:memory allocation|buffer size) limit|exceeds (?:the )?maxBufferSize/,
    explain: (_, line, log) => {
      const size = log.earlier(line, /allocation of size (\d+) failed/)?.[1];
      const kv = log.facts.contexts[0]?.kv[0];
      const quantised = isQuantised(kv?.typeK) || /-ctk|cache-type-k/.test(log.facts.commandLine ?? "");
      return {
        cause:
          size === undefined
            ? say`One buffer is larger than the driver allows for a single allocation (often 2 or 4 GiB). This is not a lack of memory.`
            : say`One buffer of ${bytes(Number(size))} is larger than the driver allows for a single allocation. This is not a lack of memory.`,
        remedy: quantised
          ? say`Lower -ub or -c, turn flash attention on, or go back to an f16 KV cache: a quantised one can need a larger compute buffer.`
          : say`Turn flash attention on (-fa on), or lower -ub or -c, so that the largest single buffer becomes smaller.`,
      };
    },
  },
  {
    kind: "deviceOutOfMemory",
    severity: "error",
    pattern: /Device memory allocation of size (\d+) failed/,
    explain: (match, line, log) =>
      /exceeds device/.test(log.around(line, 0, 3))
        ? undefined
        : deviceMemory(Number(match[1]), "the Vulkan device", line, log),
  },
  {
    kind: "deviceOutOfMemory",
    severity: "error",
    pattern: /ErrorOutOfDeviceMemory|ErrorOutOfHostMemory/,
    consequence: true,
    explain: (_, line, log) => deviceMemory(undefined, "the Vulkan device", line, log),
  },
  {
    kind: "deviceOutOfMemory",
    severity: "error",
    pattern:
      /kIOGPUCommandBufferCallbackErrorOutOfMemory|Insufficient Memory|command buffer \d+ failed with status 5|failed to allocate buffer, size =\s*([\d.]+) MiB/,
    explain: () => ({
      kind: "metalOutOfMemory",
      cause: say`The GPU may use only part of this Mac's memory, and that part is full.`,
      remedy: say`Set a smaller -c or -ub, quantise the KV cache, or use a smaller model; the limit can be raised with sysctl iogpu.wired_limit_mb.`,
    }),
  },
  {
    kind: "hostOutOfMemory",
    severity: "error",
    pattern: /failed to allocate buffer of size (\d+)/,
    explain: (match, _line, log) => {
      const size = bytes(Number(match[1]));
      const [context] = log.facts.contexts;
      const { nCtxTrain } = log.facts.model ?? {};
      const nCtx = context?.nCtx ?? 0;
      if (nCtx > 0 && (nCtx === nCtxTrain || nCtx >= 500_000)) {
        return {
          cause: say`${size} was requested: the context is the model's whole training context, ${count(nCtx)} token[s].`,
          remedy: say`Set an explicit context, for example -c 32768.`,
        };
      }
      return { cause: say`${size} of main memory could not be allocated.`, remedy: contextHint(log) };
    },
  },
  {
    kind: "kvOutOfMemory",
    severity: "error",
    pattern:
      /failed to allocate buffer for kv cache|llama_kv_cache_init\(\) failed|failed to allocate buffer for rs cache/,
    consequence: true,
    explain: (_, _line, log) => ({
      cause: say`There was no room for the KV cache in addition to the weights.`,
      remedy: contextHint(log),
    }),
  },
  {
    kind: "computeOutOfMemory",
    severity: "error",
    pattern:
      /failed to allocate (?:compute|graph)(?: pp| tg)? buffers|gallocr_reserve_n(?:_impl)?: failed to allocate (\S+) buffer of size (\d+)/,
    consequence: true,
    explain: (match, line, log) =>
      deviceMemory(
        match[2] === undefined ? undefined : Number(match[2]),
        match[1] ?? "the device",
        line,
        log,
      ),
  },
  {
    kind: "weightsOutOfMemory",
    severity: "error",
    pattern: /unable to allocate (\S+) buffer|failed to allocate (?:memory|buffer) for (?:model|tensors)/,
    consequence: true,
    explain: (match) => ({
      cause: say`There is no room for the model's weights${match[1] === undefined ? "" : ` (${match[1]})`}.`,
      remedy: remedyOf("weightsFill"),
    }),
  },
  {
    kind: "killedBySystem",
    severity: "error",
    pattern: /Out of memory: Killed process|oom-kill|OOM-kill|oom_reaper|std::bad_alloc/,
    explain: () => ({
      cause: say`The machine's main memory ran out. A server grows after startup: prompt cache (--cache-ram, 8 GiB by default) and context checkpoints, up to 32 per slot, which are large for recurrent and sliding-window models.`,
      remedy: say`Limit them: --cache-ram 0 or 2048, --ctx-checkpoints 4; and leave room for weights that are not on a GPU.`,
    }),
  },
  {
    kind: "checkpointsGrow",
    severity: "warning",
    pattern: /cache state: (\d+) prompts?, ([\d.]+) MiB \(limits: ([\d.]+) MiB/,
    explain: (match) => {
      const [size, limit] = [parseMebibytes(noted(match[2])), parseMebibytes(noted(match[3]))];
      if (!(size > limit && limit > 0)) return undefined;
      return {
        cause: say`The prompt cache in main memory holds ${bytes(size)}, more than its limit of ${bytes(limit)}: one conversation is kept whole with its context checkpoints.`,
        remedy: say`Lower --ctx-checkpoints (32 by default) or --cache-ram, or turn the cache off with --cache-ram 0.`,
      };
    },
  },
  {
    kind: "pinnedMemory",
    severity: "warning",
    pattern: /failed to allocate ([\d.]+) MiB of pinned memory/,
    explain: (match) => ({
      cause: say`${bytes(parseMebibytes(noted(match[1])))} of main memory could not be pinned for the GPU; ordinary memory is used, or loading fails.`,
      remedy: say`Lower -ub or -c, use one device (-sm none) instead of a pipeline of several, or free main memory.`,
    }),
  },
  {
    kind: "hostMemoryGrows",
    severity: "warning",
    pattern: /RSS [\d.]+ [MG]i?B -> |RAM (?:accumulates|grows|keeps growing)/,
    explain: () => ({
      cause: say`The server's main memory grows with use: it keeps prompts (--cache-ram, 8 GiB by default) and, for recurrent and sliding-window models, up to 32 context checkpoints per slot, which are copied into that cache as well.`,
      remedy: say`Limit both: --ctx-checkpoints 4 and --cache-ram 2048 (0 switches it off).`,
    }),
  },
  {
    kind: "mlockFailed",
    severity: "warning",
    pattern: /failed to (?:mlock|VirtualLock) ([\d.]+)[- ]byte buffer/,
    explain: () => ({
      cause: say`The system does not allow this program to lock the weights in memory.`,
      remedy: say`Raise the limit (ulimit -l unlimited), or start without mlock (-lm mmap).`,
    }),
  },
  {
    kind: "outOfMemory",
    severity: "error",
    // the letters also stand in Base64
    pattern: /[Oo]ut [Oo]f [Mm]emory|OUT OF MEMORY|(?<![\w+/=-])OOM(?![\w+/=-])|CUDA_ERROR_OUT_OF_MEMORY/,
    consequence: true,
    explain: (_, line, log) => {
      if (/cuMemAddressReserve/.test(log.around(line, 0, 5))) return undefined;
      return {
        cause: say`Memory ran out. With several slots, each has its own share of the context (and of the recurrent state), and a new build may need more than a manual split allows.`,
        remedy:
          log.facts.slots !== undefined && log.facts.slots.count > 1
            ? say`Set fewer slots (-np 1), a smaller -c or -ub, or put fewer layers on the full device (-ts).`
            : say`Set a smaller -c or -ub, quantise the KV cache, or put fewer layers on the full device.`,
      };
    },
  },
];
