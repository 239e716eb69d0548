import { bytes, count, say } from "../text";
import { catalogue, type Entry } from "./cause";

/** KV cache types, flash attention and kernels that a build does not have. */
export const kernelCauses = catalogue({
  cacheOrBackend: () =>
    ({
      sentence: say`A failure at a constant token count points to the KV cache type, the backend's implementation or the boundary of a contiguous region.`,
      change: "kvCache",
      remedies: [
        say`Keep model and hardware, and change only the KV cache type (-ctk, -ctv) or only the backend.`,
      ],
    }) as const,
  quantisedCache: () =>
    ({
      sentence: say`With a quantised cache, rule out the cache first.`,
      change: "kvCache",
      remedies: [say`Run the same ladder with f16 and no other change, and compare the two.`],
    }) as const,
  quantisedVWithoutFlashAttn: (): Entry => ({
    sentence: say`This model's architecture works only without flash attention, and a quantised V cache needs it.`,
    remedies: [say`Use -ctv f16 for this model; K may stay quantised.`],
  }),
  quantisedVNeedsFlashAttn: (mixed?: { readonly k: string; readonly v: string }): Entry => ({
    sentence:
      mixed === undefined
        ? say`A quantised V cache needs flash attention, which is off or not supported by this build or device for this model or this pair of types.`
        : say`The KV cache is mixed (K ${mixed.k}, V ${mixed.v}): this build has no flash attention for the pair, and without it V cannot be quantised.`,
    remedies: [
      say`Start with -fa on and the same type for K and V (q8_0 or q4_0), or use -ctv f16. CUDA builds with GGML_CUDA_FA_ALL_QUANTS support mixed pairs.`,
    ],
  }),
  quantisedHeadDimension: (cache: string, type: string, block: number, head: number): Entry => ({
    sentence: say`Heads of ${count(head)} elements cannot be stored in ${type} blocks of ${count(block)}.`,
    remedies: [say`Use f16 (or f32, bf16) for the ${cache} cache of this model.`],
  }),
  cudaInvalidArgument: (): Entry => ({
    sentence: say`A CUDA kernel was called with arguments it does not support, often an unsupported combination of KV types, a head size, or a build for another GPU.`,
    remedies: [say`Try f16 for K and V, then -fa off, to find the cause; a newer build may have fixed it.`],
  }),
  quantisedVNotImplemented: (): Entry => ({
    sentence: say`This old build did not support a quantised V cache; for a quantised K, heads must also be a multiple of 32.`,
    remedies: [say`Use -ctv f16, or a newer llama.cpp with flash attention on.`],
  }),
  flashAttnForcedOff: (): Entry => ({
    sentence: say`This build does not support flash attention for this model's architecture.`,
    remedies: [say`Expect larger compute buffers, and do not quantise V (-ctv f16).`],
  }),
  flashAttnDisabled: (devices: string): Entry => ({
    sentence: say`A device does not support flash attention for this model or these KV types${devices}.`,
    remedies: [
      say`Use the same type for K and V (f16, q8_0 or q4_0); without flash attention the compute buffer grows with context times heads, and V cannot be quantised.`,
    ],
  }),
  computeWithoutFlashAttn: (device: string, size: number): Entry => ({
    sentence: say`Without flash attention the attention scores need ${bytes(size)} on ${device}; they grow with the context, wherever the KV cache itself is.`,
    remedies: [say`Start with -fa on, or lower -ub.`],
  }),
  cacheInMainMemory: (): Entry => ({
    sentence: say`With --no-kv-offload the KV cache is in main memory; what still grows on the GPU with the context is the compute buffer if flash attention is off.`,
    remedies: [
      say`Start with -fa on, and check the lines with "KV buffer size" and "compute buffer size" for each device.`,
    ],
  }),
  fusedKernelDisabled: (devices: string): Entry => ({
    sentence: say`A single recurrent layer on the CPU disables the fused kernel for the whole model${devices}: prefill gets slower and the compute buffer larger.`,
    remedies: [
      say`Make all layers fit on the device: a smaller -ub or -c, -np 1, or a smaller quantisation.`,
    ],
  }),
  batchNotComputed: (code: string): Entry => ({
    sentence:
      code === "-2"
        ? say`A batch could not be computed: memory for it could not be allocated.`
        : say`A batch could not be computed: the backend failed (${code}).`,
    remedies: [
      say`Look for the backend's own message above; lower -ub, try f16 for K and V or another backend, one at a time.`,
    ],
  }),
  illegalAccess: (): Entry => ({
    sentence: say`A backend kernel failed. The cause is the build, the driver or the hardware rather than the settings alone.`,
    remedies: [
      say`Try f16 for K and V, then -fa off, then a newer build; if it fails at the same prompt length each time, one of these is the cause.`,
    ],
  }),
});
