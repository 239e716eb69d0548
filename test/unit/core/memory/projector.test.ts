import { describe, expect, it } from "vitest";
import { memoryBudget } from "../../../../src/core/memory/budget/memoryBudget";
import { projectorNeed, projectorOf } from "../../../../src/core/memory/projector/projector";
import type { GgufHeader, MetadataValue } from "../../../../src/core/model/ggufHeader";
import { modelOf } from "../../../../src/core/model/modelOf";
import {
  projectorModel,
  type ProjectorKind,
  type ProjectorSizes,
} from "../../../support/forge/projectorModel";
import { tensorBytes, tensorTypeId } from "../../../support/forge/tensor";
import { headers } from "./fixtures";

const MiB = 2 ** 20;

/** The header of a projector as it would be read from its file. */
function headerOf(
  kind: ProjectorKind,
  sizes: ProjectorSizes,
  changed: Readonly<Record<string, MetadataValue>> = {},
): GgufHeader {
  const { metadata, tensors } = projectorModel(kind, sizes);
  const values = [...metadata].map(([key, value]): [string, MetadataValue] => [
    key,
    value.type === "array" ? [...value.values] : value.value,
  ]);
  return {
    locator: "projector",
    metadata: new Map([...values, ...Object.entries(changed)]),
    tensors: tensors.map((tensor) => ({
      name: tensor.name,
      shape: tensor.shape,
      type: tensorTypeId(tensor),
      bytes: tensorBytes(tensor),
    })),
    fileBytes: 0,
  };
}

const qwen36: ProjectorSizes = {
  ...{ layers: 27, embedding: 1152, heads: 16, feedForward: 4304 },
  ...{ image: 768, patch: 16, text: 5120 },
};

describe("a multimodal projector", () => {
  it("needs what a public log of Qwen3.6 27B on CUDA printed: 248.10 MiB, and 24.93 on the CPU", () => {
    const { atLoad, largest } = projectorNeed(
      projectorOf(headerOf("qwen3vl_merger", qwen36)),
      true,
      undefined,
    );
    expect((atLoad.compute / MiB).toFixed(2)).toBe("248.10");
    expect((atLoad.inputs / MiB).toFixed(2)).toBe("24.93");
    // 4,096 tokens of four patches against 46 x 46, everything grows with them
    expect(largest.compute / atLoad.compute).toBeCloseTo(4096 / 46 ** 2, 2);
  });

  it("has an interval up to the largest image, and says so; a limit on images takes it away", () => {
    const [, header] = [...headers()][0] ?? [];
    if (header === undefined) throw new Error("a model");
    const projector = projectorOf(headerOf("qwen3vl_merger", qwen36));
    const launch = { ctxSize: 4096, parallel: 1, mmproj: "mmproj.gguf" };
    const device = [{ name: "CUDA0", freeBytes: 2 ** 50 }];
    const [gpu, host] = memoryBudget(modelOf(header), launch, device, { projector }).devices;
    const without = memoryBudget(modelOf(header), launch, device, {});
    expect((gpu?.parts.other ?? 0) - projector.weightsBytes).toBeCloseTo(248.1 * MiB, -5);
    expect(host?.parts.other).toBeCloseTo(24.93 * MiB, -5);
    const width = (budget: typeof without): number =>
      (budget.devices[0]?.interval.highBytes ?? 0) - (budget.devices[0]?.totalBytes ?? 0);
    const wide = memoryBudget(modelOf(header), launch, device, { projector });
    const narrow = memoryBudget(modelOf(header), { ...launch, imageMaxTokens: 2116 }, device, { projector });
    expect(width(wide) - width(without)).toBeGreaterThan(200 * MiB);
    expect(Math.abs(width(narrow) - width(without))).toBeLessThan(2);
    expect(wide.warnings.map(({ code }) => code)).toContain("projectorGrows");
    expect(narrow.warnings.map(({ code }) => code)).not.toContain("projectorGrows");
    expect(without.warnings.map(({ code }) => code)).toContain("projectorNotCounted");
  });

  it("goes where it is told to: to the host, to another device", () => {
    const [, header] = [...headers()][0] ?? [];
    if (header === undefined) throw new Error("a model");
    const projector = projectorOf(headerOf("gemma3", { ...qwen36, image: 896, patch: 14, text: 2560 }));
    const devices = [
      { name: "CUDA0", freeBytes: 2 ** 40 },
      { name: "CUDA1", freeBytes: 2 ** 40 },
    ];
    const other = (options: object): readonly boolean[] =>
      memoryBudget(modelOf(header), { ctxSize: 4096, ...options }, devices, { projector }).devices.map(
        ({ parts }) => parts.other >= projector.weightsBytes,
      );
    expect(other({})).toEqual([true, false, false]);
    expect(other({ mmprojDevice: "CUDA1" })).toEqual([false, true, false]);
    expect(other({ mmprojDevice: "none" })).toEqual([false, false, true]);
    expect(other({ mmprojOffload: false })).toEqual([false, false, true]);
    expect(other({ devices: ["CUDA1"] })).toEqual([true, false]);
  });

  it.each([
    ["an encoder nobody replays", { "clip.projector_type": "deepseekocr" }, ["deepseekocr"], true],
    ["features of several layers", { "clip.vision.feature_layer": [1, 2] }, ["gemma3"], true],
    ["ears beside the eyes", { "clip.has_audio_encoder": true }, ["gemma3"], false],
    ["a number of layers that is a lie", { "clip.vision.block_count": 4_000_000_000 }, ["gemma3"], true],
    ["a patch of nothing", { "clip.vision.patch_size": 0 }, ["gemma3"], true],
  ])("counts weights alone, and says of what: %s", (_, changed, notReplayed, blind) => {
    const header = headerOf("gemma3", { ...qwen36, image: 448, patch: 14, layers: 2, text: 64 }, changed);
    const projector = projectorOf(header);
    expect(projector.notReplayed).toEqual(notReplayed);
    expect(projector.weightsBytes).toBeGreaterThan(MiB);
    expect(projectorNeed(projector, true, undefined).atLoad.compute === 0).toBe(blind);
  });

  it("is nothing where the file is another one", () => {
    const [, header] = [...headers()][0] ?? [];
    if (header === undefined) throw new Error("a model");
    expect(projectorOf(header)).toMatchObject({ vision: undefined, notReplayed: [] });
  });
});
