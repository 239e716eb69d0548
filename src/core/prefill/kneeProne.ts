import type { CurveKey } from "./depthCurve";

/**
 * Setups whose prefill cost can rise steeply behind any probe: Vulkan on AMD graphics that share the system's memory.
 * 4 of 10 public series of that kind take 21–50 % longer to 64K tokens than any line from a 16K probe says
 * (kyuz0/amd-strix-halo-toolboxes, Nathanw1014/strix-halo-llamacpp, lhl/strix-halo-testing).
 */
export function isKneeProne(key: CurveKey): boolean {
  const text = [key.backend, key.hardware, key.build, key.flags].join(" ");
  return /vulkan|radv/i.test(text) && sharedMemoryAmd.test(text);
}

const sharedMemoryAmd =
  /radv|uma\b|strix|gfx115\d|ryzen ai|\bai max|apu\b|igpu|radeon(?:\s*\(tm\))?\s*(?:8060s|8050s|890m|880m|860m|840m|820m|780m|760m|740m|680m|660m|610m|graphics)/i;
