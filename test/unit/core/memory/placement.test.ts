import { describe, expect, it } from "vitest";
import { host, placement } from "../../../../src/core/memory/placement";
import { truth } from "./fixtures";

const MiB = 2 ** 20;

describe("weights and layers by device", () => {
  const rows = truth().rows.filter((row) => !row.draftContext);

  it("puts every layer where llama.cpp does", () => {
    let layers = 0;
    for (const row of rows) {
      if (row.layers === undefined) continue;
      const placed = placement(
        row.model,
        row.options,
        row.devices,
        row.options.specType?.includes("draft-mtp") === true,
      );
      for (const [device, [first, last, count]] of row.layers) {
        const index =
          device === "CPU" ? host : placed.devices.findIndex((each) => each.device.name === device);
        const ours = placed.layerDevice.flatMap((at, layer) => (at === index ? [layer] : []));
        expect([ours[0], ours.at(-1), ours.length], `${row.name} ${device}`).toEqual([first, last, count]);
        layers += count;
      }
    }
    expect(layers).toBeGreaterThan(90_000);
  });

  it("counts weights of each device within 1 MiB", () => {
    for (const row of rows) {
      const placed = placement(
        row.model,
        row.options,
        row.devices,
        row.options.specType?.includes("draft-mtp") === true,
      );
      const ours = new Map([["Host", placed.hostWeights]]);
      placed.devices.forEach(({ device }, i) => ours.set(device.name, placed.weights[i] ?? 0));
      for (const [device, [weights]] of row.buffers) {
        const error = Math.abs((ours.get(device) ?? 0) - weights);
        expect(error, `${row.name} ${device}`).toBeLessThanOrEqual(MiB);
      }
    }
  });
});
