import type { Cause } from "../causes/cause";
import { causes } from "../causes/causes";
import type { CachedContext } from "../causes/memoryCauses";
import { given } from "../given";
import { isQuantised } from "../launch/launchRules";
import type { Explanation, LogView } from "./logEvent";
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

function cachedContext({ facts: { contexts } }: LogView): CachedContext {
  const [context] = contexts;
  return { quantised: isQuantised(context?.kv[0]?.typeK), ...given({ nCtx: context?.nCtx }) };
}

function deviceMemory(amount: number | undefined, device: string, line: LogLine, log: LogView): Cause {
  if (amount !== undefined && amount > 200 * 1024 * mib) return causes.absurdAllocation(device, amount);
  const where = { device, ...given({ bytes: amount }) };
  const pipelined = log.earlier(line, /pipeline parallelism enabled(?! \(n_copies=1\))/) !== undefined;
  switch (purpose(line, log)) {
    case "weights":
      return causes.weightsOutOfMemory(where);
    case "kv":
      return causes.cacheFills(where, cachedContext(log));
    case "state":
      return causes.stateOutOfMemory(where);
    case "compute":
      return causes.computeOutOfMemory(where, pipelined);
    case undefined:
      return causes.deviceOutOfMemory(where, pipelined);
  }
}

/** Address space is not memory, although CUDA reports both alike. */
const addressSpace = /cuMemAddressReserve/;

/** Explanations of memory that was not there. */
export const memoryExplanations: readonly Explanation[] = [
  {
    severity: "error",
    pattern: /allocating ([\d.]+) MiB on device (\d+): \w+ failed: out of memory/,
    explain: ([, size = "", device = ""], line, log) =>
      deviceMemory(parseMebibytes(size), `device ${device}`, line, log),
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
        : deviceMemory(Number(match[1]), "the Vulkan device", line, log),
  },
  {
    severity: "error",
    pattern: /ErrorOutOfDeviceMemory|ErrorOutOfHostMemory/,
    consequence: true,
    explain: (_, line, log) => deviceMemory(undefined, "the Vulkan device", line, log),
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
    explain: (match, _line, log) => {
      const size = Number(match[1]);
      const nCtx = log.facts.contexts[0]?.nCtx ?? 0;
      return nCtx > 0 && (nCtx === log.facts.model?.nCtxTrain || nCtx >= 500_000)
        ? causes.wholeTrainingContext(size, nCtx)
        : causes.hostOutOfMemory(size, cachedContext(log));
    },
  },
  {
    severity: "error",
    pattern:
      /failed to allocate buffer for kv cache|llama_kv_cache_init\(\) failed|failed to allocate buffer for rs cache/,
    consequence: true,
    explain: (_, _line, log) => causes.cacheFills(undefined, cachedContext(log)),
  },
  {
    severity: "error",
    pattern:
      /failed to allocate (?:compute|graph)(?: pp| tg)? buffers|gallocr_reserve_n(?:_impl)?: failed to allocate (\S+) buffer of size (\d+)/,
    consequence: true,
    explain: ([, device = "the device", size], line, log) =>
      deviceMemory(size === undefined ? undefined : Number(size), device, line, log),
  },
  {
    severity: "error",
    pattern: /unable to allocate (\S+) buffer|failed to allocate (?:memory|buffer) for (?:model|tensors)/,
    consequence: true,
    explain: ([, device]) => causes.weightsOutOfMemory(device === undefined ? undefined : { device }),
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
    pattern: /failed to allocate ([\d.]+) MiB of pinned memory/,
    explain: ([, size = ""]) => causes.pinnedMemory(parseMebibytes(size)),
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
