import { describe, expect, it } from "vitest";
import { memoryBudget } from "../../../../src/core/memory/budget/memoryBudget";
import { describeModel, type ModelDescription } from "../../../../src/core/model/describeModel";
import type { GgufHeader, MetadataValue } from "../../../../src/core/model/ggufHeader";
import { modelOf } from "../../../../src/core/model/modelOf";
import { headerOf, headers } from "../memory/fixtures";

const all = [...headers()];

function described(name: string): ModelDescription {
  const header = all.find(([file]) => file.startsWith(name))?.[1];
  if (header === undefined) throw new Error(`no header of ${name}`);
  return describeModel(header);
}

const kindsOf = ({ layers }: ModelDescription): Record<string, number> =>
  layers.reduce<Record<string, number>>(
    (counts, { kind }) => ({ ...counts, [kind]: (counts[kind] ?? 0) + 1 }),
    {},
  );

describe("a model described from its header", () => {
  // layer counts as llama.cpp prints them for these models ("n_layer", "layers" of each cache)
  it.each<[string, Record<string, number>]>([
    ["llama-3.1-8b", { attention: 32 }],
    ["gemma-3-12b", { attention: 8, swa: 40 }],
    ["qwen3.6-35b-a3b", { attention: 10, recurrent: 30 }],
    ["falcon-mamba-7b", { recurrent: 64 }],
    ["rwkv6-7b", { recurrent: 32 }],
    ["gpt-oss-20b", { attention: 12, swa: 12 }],
    ["nemotron-3-nano-30b", { attention: 6, recurrent: 23, none: 23 }],
  ])("%s: kinds of layers", (name, kinds) => {
    expect(kindsOf(described(name))).toEqual(kinds);
  });

  it("tells blocks for multi-token prediction apart", () => {
    expect(described("qwen3.6-35b-a3b")).toMatchObject({ mtpLayers: 1, layers: { length: 40 } });
  });

  it("gives layers that use another's cache no KV heads", () => {
    const { layers } = described("gemma-3n-e4b");
    expect(layers.slice(0, 20).every(({ kvHeads }) => kvHeads > 0)).toBe(true);
    expect(layers.slice(20).every(({ kvHeads }) => kvHeads === 0)).toBe(true);
  });

  it("counts parameters as the model is named", () => {
    expect(described("llama-3.1-8b").parameters).toBe(8_030_261_312);
    expect(described("gpt-oss-20b").parameters / 1e9).toBeCloseTo(20.9, 1);
  });

  it("knows every architecture of the fixtures and has no doubts about them", () => {
    for (const [name, header] of all) expect(describeModel(header).warnings, name).toEqual([]);
  });
});

describe("a header that lies", () => {
  const lies: readonly [string, Record<string, MetadataValue>][] = [
    ["billions of layers", { "llama.block_count": 4_000_000_000 }],
    ["heads of a negative size", { "llama.attention.key_length": -128 }],
    ["no number where one belongs", { "llama.attention.head_count_kv": "eight" }],
    ["a fraction of a layer", { "llama.block_count": 31.5 }],
    ["not a number", { "llama.context_length": Number.NaN }],
    ["a number beyond exact ones", { "llama.embedding_length": 2n ** 63n }],
    ["more prediction blocks than blocks", { "llama.nextn_predict_layers": 1_000_000 }],
    ["no architecture", { "general.architecture": "" }],
    ["nothing at all", {}],
  ];
  const honest: Record<string, MetadataValue> = {
    "general.architecture": "llama",
    "llama.block_count": 32,
    "llama.context_length": 8192,
    "llama.embedding_length": 4096,
    "llama.feed_forward_length": 14_336,
    "llama.attention.head_count": 32,
    "llama.attention.head_count_kv": 8,
  };

  it.each(lies)("%s: bounded, finite, and no exception", (_, lie) => {
    const header: GgufHeader = headerOf({ ...honest, ...lie });
    const model = modelOf(header);
    expect(model.layers.length).toBeLessThanOrEqual(4096);
    const { totalBytes, interval } = memoryBudget(model, { ctxSize: 4096 }, []);
    for (const value of [totalBytes, interval.lowBytes, interval.highBytes]) {
      expect(Number.isFinite(value)).toBe(true);
      expect(value).toBeGreaterThanOrEqual(0);
    }
  });

  it("is said to be doubtful by the key", () => {
    const { warnings } = describeModel(headerOf({ ...honest, "llama.attention.key_length": -128 }));
    expect(warnings.map(({ code }) => code)).toContain("headerValueIgnored");
  });

  it("an empty header yields what is certain: nothing", () => {
    const description = describeModel(headerOf({}));
    expect(description.layers).toEqual([]);
    expect(description.warnings.map(({ code }) => code)).toContain("architectureUnknown");
  });
});
