import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { fitted } from "../../../../src/core/memory/fit";
import { modelOf } from "../../../../src/core/model/modelOf";
import { headers } from "./fixtures";

interface Decision {
  readonly model: string;
  /** MiB free on each. */
  readonly devices: readonly number[];
  readonly ctxSize?: number;
  readonly nCtx: number;
  /** -1: left to llama.cpp, all of them. */
  readonly gpuLayers: number;
  /** Layers with experts on the host. */
  readonly expertLayers: number;
}

const file = path.join(import.meta.dirname, "../../../fixtures/memory/fitDecisions.json");
const { rows } = JSON.parse(readFileSync(file, "utf8")) as { readonly rows: readonly Decision[] };

describe("what -fit does before the load", () => {
  const all = headers();
  const compared = rows.map((row) => {
    const header = all.get(row.model);
    if (header === undefined) throw new Error(`no header ${row.model}`);
    const model = modelOf(header);
    const devices = row.devices.map((free, i) => ({ name: `CUDA${i}`, freeBytes: free * 2 ** 20 }));
    const asked = { parallel: 1, ...(row.ctxSize !== undefined && { ctxSize: row.ctxSize }) };
    const { options } = fitted(model, asked, devices, { caller: "fitParams" });
    return { row, options, nCtx: options.ctxSize ?? model.contextLength };
  });

  it("chooses llama.cpp's own context, to the token, in 49 of 50 cases", () => {
    expect(compared).toHaveLength(50);
    const same = compared.filter(({ row, nCtx }) => nCtx === row.nCtx);
    expect(same.length).toBeGreaterThanOrEqual(49);
  });

  it("moves whole layers as llama.cpp does, and experts of nearly as many layers", () => {
    const dense = compared.filter(({ row }) => row.gpuLayers >= 0 && row.expertLayers === 0);
    for (const { row, options } of dense) expect(options.gpuLayers, row.model).toBe(row.gpuLayers);
    expect(dense.length).toBeGreaterThan(0);
    const moved = compared.filter(({ options }) => options.nCpuMoe !== undefined);
    const off = moved.map(({ row, options }) => Math.abs((options.nCpuMoe ?? 0) - row.expertLayers));
    off.sort((a, b) => a - b);
    expect(moved.length).toBeGreaterThan(15);
    expect(off[Math.floor(off.length / 2)]).toBeLessThanOrEqual(2);
  });

  it("leaves everything on the devices where llama.cpp does, and nowhere else, in 49 of 50 cases", () => {
    const same = compared.filter(({ row, options }) => {
      const theirs = row.gpuLayers === -1;
      const ours = options.gpuLayers === undefined && options.nCpuMoe === undefined;
      return theirs === ours;
    });
    expect(same.length).toBeGreaterThanOrEqual(49);
  });
});
