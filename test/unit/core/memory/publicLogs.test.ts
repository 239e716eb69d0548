import { describe, expect, it } from "vitest";
import { buildNumber } from "../../../../src/core/launch/builds";
import { contextPlan } from "../../../../src/core/memory/contextPlan";
import { kvCaches } from "../../../../src/core/memory/kvCache";
import { breakdown } from "../../../../src/core/memory/budget/breakdown";
import { recurrentState, sumBytes } from "../../../../src/core/memory/recurrentState";
import { modelOfCase, optionsOfCase, usableCases } from "./publicCases";

const MiB = 2 ** 20;

describe("caches printed in public logs", () => {
  const usable = usableCases();

  it("are enough, and from several architectures", () => {
    expect(usable.length).toBeGreaterThan(25);
    expect(new Set(usable.map(({ arch }) => arch)).size).toBeGreaterThan(8);
  });

  it.each(usable.map((each) => [each.id, each] as const))("%s", (_, each) => {
    const model = modelOfCase(each);
    const plan = contextPlan(model, optionsOfCase(each), undefined, "server");
    const caches = kvCaches(model, plan);
    for (const { cache, size_mib: size, cells, layers } of each.measured.kv ?? []) {
      if (size === undefined || /mtp|draft/i.test(cache ?? "")) continue;
      const found = caches.find(
        (ours) =>
          Math.abs(ours.bytes / MiB - size) <= 0.006 &&
          (cells === undefined || ours.cells === cells) &&
          (layers === undefined || ours.perLayer.length === layers),
      );
      const all = caches.map((ours) =>
        [ours.cache, ours.bytes / MiB, ours.cells, ours.perLayer.length].join(" "),
      );
      expect(
        found,
        `${cache} ${size} MiB ${cells} cells ${layers} layers; ours: ${all.join("; ")}`,
      ).toBeDefined();
    }
    const state = each.measured.rs_mib;
    if (state !== undefined) expect(sumBytes(recurrentState(model, plan)) / MiB).toBeCloseTo(state, 1);
  });
});

describe("compute buffers printed in public logs of one device that takes all layers", () => {
  const usable = usableCases().filter(({ id, build = "" }) => {
    const number = buildNumber(build) ?? 0;
    // logits of a few rows, and no branch for embeddings of their own; two older ones with the host's masks in f32
    const known = number >= 9460 && number <= 11_146 && !/62of66|31of33|partial/.test(id);
    return known || /^(idx-gptoss20b-metal-m5-ctx131072-ub2048|ml-glm4-z1-32b-cuda-32768-fa)$/.test(id);
  });

  it("are several", () => expect(usable.length).toBeGreaterThan(9));

  it.each(usable.map((each) => [each.id, each] as const))(
    "%s: in the interval, the host to the MiB",
    (_, each) => {
      const compute = Object.entries(each.measured.compute ?? {});
      const [name = "", real] = compute.find(([device]) => !/host|cpu/i.test(device)) ?? [];
      const [, realHost] = compute.find(([device]) => /host|cpu/i.test(device)) ?? [];
      const devices = [{ name, freeBytes: 2 ** 50 }];
      const options = { ...optionsOfCase(each), fit: false, gpuLayers: "all" as const };
      const build = buildNumber(each.build);
      const { rows } = breakdown(modelOfCase(each), options, devices, build === undefined ? {} : { build });
      const [device, host] = rows.map((row) => row.compute);
      expect((device?.low ?? 0) / MiB).toBeLessThanOrEqual(real ?? 0);
      expect((device?.high ?? 0) / MiB).toBeGreaterThanOrEqual(real ?? Infinity);
      expect(Math.abs((host?.bytes ?? 0) / MiB - (realHost ?? 0))).toBeLessThan(1);
    },
  );
});
