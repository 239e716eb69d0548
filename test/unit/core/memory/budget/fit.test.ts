import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { fitted } from "../../../../../src/core/memory/budget/fit";
import { modelOf } from "../../../../../src/core/model/modelOf";
import { headers } from "../fixtures";

interface Decision {
  readonly model: string;
  /** MiB free on each. */
  readonly devices: readonly number[];
  readonly ctxSize?: number;
  readonly nCtx: number;
  /** -1: left to llama.cpp, all of them. */
  readonly gpuLayers: number;
  /** Layers by device, where there are several. */
  readonly tensorSplit?: readonly number[];
  /** First and last layer whose experts go to the host. */
  readonly withoutExperts?: readonly [number, number];
  /** Of single layers: what goes elsewhere, as a pattern, and where. */
  readonly parts?: readonly (readonly [layer: number, pattern: string, buffer: string])[];
}

const file = path.join(import.meta.dirname, "../../../../fixtures/memory/fitDecisions.json");
const { rows } = JSON.parse(readFileSync(file, "utf8")) as { readonly rows: readonly Decision[] };

const same = (ours: unknown, theirs: unknown): boolean => JSON.stringify(ours) === JSON.stringify(theirs);

/** llama.cpp writes one pattern a layer; ours says the same of all of them. */
function withoutExperts({ withoutExperts: range }: Decision): readonly (readonly [string, string])[] {
  if (range === undefined) return [];
  const [first, last] = range;
  const layers = Array.from({ length: last - first + 1 }, (_, i) => first + i).join("|");
  return [[`blk\\.(?:${layers})\\.ffn_(up|down|gate_up|gate)_(ch|)exps`, "CPU"]];
}

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

  it("chooses llama.cpp's own context, to the token", () => {
    expect(compared).toHaveLength(50);
    for (const { row, nCtx } of compared) expect(nCtx, row.model).toBe(row.nCtx);
  });

  it("moves the same layers, experts and single matrices to the same places in 49 of 50 cases", () => {
    const other = compared.filter(({ row, options }) => {
      const { gpuLayers, tensorSplit } = options;
      const overrides = (options.overrideTensor ?? []).map(({ pattern, buffer }) => [pattern, buffer]);
      const single = (row.parts ?? []).map(([layer, pattern, to]) => [`blk\\.${layer}\\.${pattern}`, to]);
      return !same(
        [gpuLayers ?? -1, tensorSplit, [...single, ...withoutExperts(row)]],
        [row.gpuLayers, row.tensorSplit, overrides],
      );
    });
    expect(
      other.length,
      other.map(({ row }) => `${row.model} ${row.devices.join()}`).join("; "),
    ).toBeLessThanOrEqual(1);
    for (const { row, options } of other) {
      expect(options.gpuLayers, row.model).toBe(row.gpuLayers);
      expect(options.tensorSplit, row.model).toEqual(row.tensorSplit);
    }
    expect(compared.filter(({ row }) => row.withoutExperts !== undefined).length).toBeGreaterThan(20);
  });

  it("shrinks the context to the whole memory of a machine without a GPU", () => {
    // b11669's llama-fit-params -ctk f32 -ctv f32 --no-repack on a machine with 24,683,652 kB said -c 71424
    const header = all.get("llama-3.1-8b-q4_k_m.gguf");
    if (header === undefined) throw new Error("no header");
    const asked = { parallel: 1, cacheTypeK: "f32", cacheTypeV: "f32", repack: false };
    const host = { name: "Host", freeBytes: 20 * 2 ** 30, totalBytes: 24_683_652 * 1024 };
    const of = (options: object, settings = {}): number | undefined =>
      fitted(modelOf(header), { ...asked, ...options }, [host], { caller: "fitParams", ...settings }).options
        .ctxSize;
    expect(of({})).toBe(71_424);
    expect(of({ cacheTypeK: "f16", cacheTypeV: "f16" })).toBeUndefined();
    expect(of({ ctxSize: 131_072 })).toBe(131_072);
    expect(of({ fit: false })).toBeUndefined();
    expect(of({}, { build: 9000 })).toBeUndefined();
  });

  it("makes room for a plain draft model, and for none that reads features: b11669 cannot measure it", () => {
    const header = all.get("llama-3.1-8b-q4_k_m.gguf");
    if (header === undefined) throw new Error("no header");
    const draft = (architecture: string): ReturnType<typeof modelOf> =>
      modelOf({
        locator: architecture,
        metadata: new Map<string, string | number>([
          ["general.architecture", architecture],
          [`${architecture}.block_count`, 1],
          [`${architecture}.embedding_length`, 4096],
          [`${architecture}.attention.head_count`, 32],
          [`${architecture}.attention.head_count_kv`, 8],
        ]),
        tensors: [{ name: "blk.0.attn_q.weight", shape: [4096, 131_072], type: 1, bytes: 2 ** 30 }],
        fileBytes: 0,
      });
    const of = (architecture?: string): number =>
      fitted(modelOf(header), { parallel: 1 }, [{ name: "CUDA0", freeBytes: 12 * 2 ** 30 }], {
        ...(architecture !== undefined && { draft: draft(architecture) }),
      }).options.ctxSize ?? 0;
    expect(of()).toBeGreaterThan(10_000);
    expect(of("eagle3")).toBe(of());
    expect(of("llama")).toBeLessThan(of());
  });

  it("leaves everything on the devices where llama.cpp does, and nowhere else, in 49 of 50 cases", () => {
    const same = compared.filter(({ row, options }) => {
      const theirs = row.gpuLayers === -1;
      const ours = options.gpuLayers === undefined;
      return theirs === ours;
    });
    expect(same.length).toBeGreaterThanOrEqual(49);
  });
});
