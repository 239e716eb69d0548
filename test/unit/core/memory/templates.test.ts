import { describe, expect, it } from "vitest";
import type { LaunchOptions } from "../../../../src/core/launch/launchOptions";
import { breakdown } from "../../../../src/core/memory/budget/breakdown";
import { modelOf } from "../../../../src/core/model/modelOf";
import { headers } from "./fixtures";

const gpus = [
  { name: "CUDA0", freeBytes: 24 * 2 ** 30 },
  { name: "CUDA1", freeBytes: 12 * 2 ** 30 },
];

const launches: readonly (readonly [string, LaunchOptions, number])[] = [
  ["on the CPU", {}, 0],
  ["on the CPU without flash attention", { flashAttn: "off" }, 0],
  ["on one device with a quantised cache", { cacheTypeK: "q8_0", cacheTypeV: "q8_0" }, 1],
  ["on two devices", {}, 2],
  ["with layers on the host", { gpuLayers: 9 }, 1],
  ["with experts on the host, two devices", { nCpuMoe: 7 }, 2],
  ["with the cache on the host", { kvOffload: false }, 1],
];

describe("graphs that are kept", () => {
  const some = /qwen3\.6-35b|gemma-3n|deepseek-v2-lite-q4|gpt-oss-20b/;
  const models = [...headers()].filter(([name]) => some.test(name));

  it.each(launches)("answer for another context as a new one does: %s", (_, options, count) => {
    expect(models.length).toBeGreaterThanOrEqual(3);
    const devices = gpus.slice(0, count);
    for (const [name, header] of models) {
      const kept = modelOf(header);
      // windows and small contexts end differently; the second and later answers come from what was kept
      for (const ctxSize of [4096, 65_536, 1024, 12_288, 131_072, 512]) {
        const launch: LaunchOptions = { ...options, ctxSize, parallel: 2, fit: false };
        const again = breakdown(kept, launch, devices, {}).rows;
        expect(again, `${name} ${ctxSize}`).toEqual(breakdown(modelOf(header), launch, devices, {}).rows);
      }
    }
  });
});
