import type { Cause } from "../causes/cause";
import { causes } from "../causes/causes";
import {
  mainMemory,
  numberedDevice,
  someDevice,
  vulkanDevice,
  type Allocation,
  type CachedContext,
} from "../causes/memoryCauses";
import { given } from "../given";
import { isQuantised } from "../launch/launchRules";
import type { TextArg } from "../text";
import type { Explanation, LogView } from "./logEvent";
import { parseMebibytes, type LogLine } from "./reading/logLine";

const mib = 2 ** 20;

type Purpose = "weights" | "kv" | "compute" | "state" | "projector";

/** Which buffer a failed allocation was for: the lines around say it. */
function purpose(line: LogLine, log: LogView): Purpose | undefined {
  const after = log.around(line, 0, 6);
  if (/\b(?:clip|mtmd)_|mmproj|multimodal/.test(log.around(line, 6, 6)) && !/kv[ _]cache/i.test(after))
    return "projector";
  if (/kv cache|kv_cache|self-attention cache|KV buffer/i.test(after)) return "kv";
  if (/compute (?:pp |tg )?buffers|gallocr|graph_reserve|sched_reserve/.test(after)) return "compute";
  if (/rs cache|recurrent/i.test(after)) return "state";
  if (/load_tensors|model buffer|alloc_tensor_range|unable to allocate .* buffer|load_model/.test(after))
    return "weights";
  const { contexts, weights } = log.facts;
  if (contexts.some((context) => context.kv.length > 0)) return "compute";
  return weights.length > 0 ? "kv" : undefined;
}

function cachedContext({ facts: { contexts } }: LogView): CachedContext {
  const [context] = contexts;
  return { quantised: isQuantised(context?.kv[0]?.typeK), ...given({ nCtx: context?.nCtx }) };
}

/** A context as long as the model's training, which nobody asks for knowingly, or longer than most machines hold. */
function wholeContext({ facts: { contexts, model } }: LogView): number | undefined {
  const nCtx = contexts[0]?.nCtx ?? 0;
  return nCtx > 0 && (nCtx === model?.nCtxTrain || nCtx >= 500_000) ? nCtx : undefined;
}

function memoryFull(where: Allocation, line: LogLine, log: LogView): Cause {
  const { bytes: size, host } = where;
  const what = purpose(line, log);
  if (host !== true && size !== undefined && size > 200 * 1024 * mib) return causes.absurdAllocation(size);
  const pipelined = log.earlier(line, /pipeline parallelism enabled(?! \(n_copies=1\))/) !== undefined;
  const compute = { pipelined, ...given({ flashAttn: log.facts.contexts[0]?.flashAttn }) };
  switch (what) {
    case "weights":
      return causes.weightsOutOfMemory(where);
    case "kv": {
      const nCtx = wholeContext(log);
      return host === true && size !== undefined && nCtx !== undefined
        ? causes.wholeTrainingContext(size, nCtx)
        : causes.cacheFills(where, cachedContext(log));
    }
    case "state":
      return causes.stateOutOfMemory(where);
    case "projector":
      return causes.projectorOutOfMemory(where);
    case "compute":
      return causes.computeOutOfMemory(where, compute);
    case undefined: {
      const nCtx = wholeContext(log);
      if (host !== true || size === undefined) return causes.deviceOutOfMemory(where, compute);
      return nCtx === undefined
        ? causes.hostOutOfMemory(size, cachedContext(log))
        : causes.wholeTrainingContext(size, nCtx);
    }
  }
}

const allocation = (device: TextArg, size: number | undefined): Allocation => ({
  device,
  ...given({ bytes: size }),
});
const inMainMemory = (size: number | undefined): Allocation => ({
  ...allocation(mainMemory, size),
  host: true,
});
const isHost = (device: string): boolean => /^CPU|_Host$/.test(device);

/** Address space is not memory, although CUDA reports both alike. */
const addressSpace = /cuMemAddressReserve/;

/** Explanations of memory that was not there. */
export const memoryExplanations: readonly Explanation[] = [
  {
    severity: "error",
    pattern: /allocating ([\d.]+) MiB on device (\d+): \w+ failed: out of memory/,
    explain: ([, size = "", device = ""], line, log) =>
      memoryFull(allocation(numberedDevice(device), parseMebibytes(size)), line, log),
  },
  {
    severity: "error",
    pattern: addressSpace,
    explain: () => causes.addressSpace(),
  },
  {
    severity: "error",
    pattern:
      /CUDA error: out of memory|hipErrorOutOfMemory|ROCm error: out of memory|CUDA error 2\b.*out of memory|cuMemCreate/,
    explain: (_, line, log) =>
      addressSpace.test(log.around(line, 0, 5)) ? undefined : causes.runtimeOutOfMemory(),
  },
  {
    severity: "error",
    pattern:
      /Requested buffer size exceeds device (?:memory allocation|buffer size) limit|exceeds (?:the )?maxBufferSize/,
    explain: (_, line, log) => {
      const size = log.earlier(line, /allocation of size (\d+) failed/)?.[1];
      const kv = log.facts.contexts[0]?.kv[0];
      const quantised = isQuantised(kv?.typeK) || /-ctk|cache-type-k/.test(log.facts.commandLine ?? "");
      return causes.singleAllocationLimit(size === undefined ? undefined : Number(size), quantised);
    },
  },
  {
    severity: "error",
    pattern: /Device memory allocation of size (\d+) failed/,
    explain: (match, line, log) =>
      /exceeds device/.test(log.around(line, 0, 3))
        ? undefined
        : memoryFull(allocation(vulkanDevice, Number(match[1])), line, log),
  },
  {
    severity: "error",
    pattern: /ErrorOutOfDeviceMemory|ErrorOutOfHostMemory/,
    consequence: true,
    // the line in front of it may say that only pinned memory was missing, which ordinary memory stands in for
    explain: (_, line, log) =>
      log.around(line, 1, 0).includes("allocate pinned memory")
        ? undefined
        : memoryFull(allocation(vulkanDevice, undefined), line, log),
  },
  {
    severity: "error",
    pattern:
      /kIOGPUCommandBufferCallbackErrorOutOfMemory|Insufficient Memory|command buffer \d+ failed with status 5|failed to allocate buffer, size =\s*([\d.]+) MiB/,
    explain: () => causes.metalOutOfMemory(),
  },
  {
    severity: "error",
    pattern: /failed to allocate buffer of size (\d+)/,
    explain: (match, line, log) => memoryFull(inMainMemory(Number(match[1])), line, log),
  },
  {
    severity: "error",
    pattern: /failed to allocate buffer for kv cache|llama_kv_cache_init\(\) failed/,
    consequence: true,
    explain: (_, _line, log) => causes.cacheFills(undefined, cachedContext(log)),
  },
  {
    severity: "error",
    pattern: /failed to allocate buffer for rs cache/,
    consequence: true,
    explain: () => causes.stateOutOfMemory(allocation(someDevice, undefined)),
  },
  {
    severity: "error",
    pattern:
      /failed to allocate (?:compute|graph)(?: pp| tg)? buffers|gallocr_reserve_n(?:_impl)?: failed to allocate (\S+) buffer of size (\d+)/,
    consequence: true,
    explain: ([, device, size], line, log) => {
      const amount = size === undefined ? undefined : Number(size);
      return memoryFull(
        device !== undefined && isHost(device)
          ? inMainMemory(amount)
          : allocation(device ?? someDevice, amount),
        line,
        log,
      );
    },
  },
  {
    severity: "error",
    pattern:
      /(?:unable|alloc_tensor_range: failed) to allocate (\S+) buffer|failed to allocate (?:memory|buffer) for (?:model|tensors)/,
    consequence: true,
    explain: ([, device]) =>
      causes.weightsOutOfMemory(
        device === undefined ? undefined : isHost(device) ? inMainMemory(undefined) : { device },
      ),
  },
  {
    severity: "error",
    pattern: /Out of memory: Killed process|oom-kill|OOM-kill|oom_reaper|std::bad_alloc/,
    explain: () => causes.killedBySystem(),
  },
  {
    severity: "warning",
    pattern: /cache state: (\d+) prompts?, ([\d.]+) MiB \(limits: ([\d.]+) MiB/,
    explain: ([, , held = "", most = ""]) => {
      const [size, limit] = [parseMebibytes(held), parseMebibytes(most)];
      return size > limit && limit > 0 ? causes.checkpointsGrow(size, limit) : undefined;
    },
  },
  {
    severity: "warning",
    pattern: /failed to allocate ([\d.]+) MiB of pinned memory|Failed to allocate pinned memory/,
    explain: ([, size]) => causes.pinnedMemory(size === undefined ? undefined : parseMebibytes(size)),
  },
  {
    severity: "warning",
    pattern: /RSS [\d.]+ [MG]i?B -> |RAM (?:accumulates|grows|keeps growing)/,
    explain: () => causes.hostMemoryGrows(),
  },
  {
    severity: "warning",
    pattern: /failed to (?:mlock|VirtualLock) ([\d.]+)[- ]byte buffer/,
    explain: () => causes.mlockFailed(),
  },
  {
    severity: "error",
    // the letters also stand in Base64
    pattern: /[Oo]ut [Oo]f [Mm]emory|OUT OF MEMORY|(?<![\w+/=-])OOM(?![\w+/=-])|CUDA_ERROR_OUT_OF_MEMORY/,
    consequence: true,
    explain: (_, line, log) =>
      addressSpace.test(log.around(line, 0, 5))
        ? undefined
        : causes.outOfMemory((log.facts.slots?.count ?? 1) > 1),
  },
];
