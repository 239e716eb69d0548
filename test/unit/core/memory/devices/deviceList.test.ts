import { describe, expect, it } from "vitest";
import { backendOf } from "../../../../../src/core/memory/devices/memoryDevice";
import { parseDeviceList } from "../../../../../src/core/memory/devices/deviceList";

const MiB = 2 ** 20;

describe("llama-server --list-devices", () => {
  it("names devices with what the backend may use of them", () => {
    const printed = [
      "load_backend: loaded CUDA backend",
      "Available devices:",
      "  CUDA0: NVIDIA GeForce RTX 3090 (24105 MiB, 23800 MiB free)",
      "  Vulkan1: AMD Radeon (RADV: NAVI31) (24560 MiB, 20000 MiB free)",
      "  RPC0: 127.0.0.1:50052 (16000 MiB, 15000 MiB free)",
      "",
    ].join("\r\n");
    expect(parseDeviceList(printed)).toEqual([
      {
        name: "CUDA0",
        description: "NVIDIA GeForce RTX 3090",
        totalBytes: 24_105 * MiB,
        freeBytes: 23_800 * MiB,
      },
      {
        name: "Vulkan1",
        description: "AMD Radeon (RADV: NAVI31)",
        totalBytes: 24_560 * MiB,
        freeBytes: 20_000 * MiB,
      },
      { name: "RPC0", description: "127.0.0.1:50052", totalBytes: 16_000 * MiB, freeBytes: 15_000 * MiB },
    ]);
  });

  it("is empty where there is no device, and unknown where the output is something else", () => {
    expect(parseDeviceList("Available devices:\n")).toEqual([]);
    expect(parseDeviceList("error: unbekannte Option --list-devices")).toBeUndefined();
    expect(parseDeviceList("")).toBeUndefined();
  });

  it.each([
    ["CUDA0", "cuda"],
    ["ROCm1", "cuda"],
    ["MTL0", "metal"],
    ["Vulkan0", "vulkan"],
    ["RPC0", "rpc"],
    ["SYCL0", "other"],
  ])("%s allocates like %s", (name, backend) => {
    expect(backendOf({ name, freeBytes: 0 })).toBe(backend);
  });
});
