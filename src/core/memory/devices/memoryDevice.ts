/** How a backend's allocator behaves; taken from its device names. */
export type Backend = "cuda" | "metal" | "vulkan" | "rpc" | "other";

/** A device llama.cpp can use, as `--list-devices` names it; sizes in bytes. */
export interface MemoryDevice {
  readonly name: string;
  readonly freeBytes: number;
  readonly totalBytes?: number;
}

/** Name of the row for host memory, as llama-fit-params prints it. */
export const hostName = "Host";

export function backendOf(device: MemoryDevice): Backend {
  if (/^(cuda|rocm|hip|musa)/i.test(device.name)) return "cuda";
  if (/^(mtl|metal)/i.test(device.name)) return "metal";
  if (/^vulkan/i.test(device.name)) return "vulkan";
  return /^rpc/i.test(device.name) ? "rpc" : "other";
}

/** Host memory given under one of its names is the host row's budget, not a device of its own. */
export const isHost = (device: MemoryDevice): boolean => /^(host|cpu|ram)$/i.test(device.name);
