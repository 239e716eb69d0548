import { describe, expect, it } from "vitest";
import { memoryBudget } from "../../../../src/core/memory/budget/memoryBudget";
import { describeModel, type ModelDescription } from "../../../../src/core/model/describeModel";
import type { MetadataValue } from "../../../../src/core/model/ggufHeader";
import { modelOf } from "../../../../src/core/model/modelOf";
import { UserError } from "../../../../src/core/userError";
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

const honest: Record<string, MetadataValue> = {
  "general.architecture": "llama",
  "llama.block_count": 32,
  "llama.context_length": 8192,
  "llama.embedding_length": 4096,
  "llama.feed_forward_length": 14_336,
  "llama.attention.head_count": 32,
  "llama.attention.head_count_kv": 8,
};

describe("a header that lies", () => {
  // each stops llama.cpp b11669 while it reads the hyper-parameters, and the ends of these ranges do not
  const lies: readonly [string, Record<string, MetadataValue>, key: string, range: string][] = [
    ["billions of layers", { "llama.block_count": 4_000_000_000 }, "block_count", "0 to 512"],
    ["one layer too many", { "llama.block_count": 513 }, "block_count", "0 to 512"],
    ["more experts than can be", { "llama.expert_count": 1025 }, "expert_count", "0 to 1024"],
    [
      "more experts used than there are",
      { "llama.expert_count": 8, "llama.expert_used_count": 9 },
      "expert_used_count",
      "0 to 8",
    ],
    [
      "experts used by the hundred million",
      { "llama.expert_count": 8, "llama.expert_used_count": 300_000_000 },
      "expert_used_count",
      "0 to 8",
    ],
    [
      "heads of a negative size",
      { "llama.attention.key_length": -128 },
      "attention.key_length",
      "0 to 4294967295",
    ],
    [
      "no number where one belongs",
      { "llama.attention.head_count_kv": "eight" },
      "attention.head_count_kv",
      "0 to 4294967295",
    ],
    [
      "no number in a list",
      { "llama.attention.head_count_kv": ["eight"] },
      "attention.head_count_kv",
      "0 to 4294967295",
    ],
    ["a fraction of a layer", { "llama.block_count": 31.5 }, "block_count", "0 to 512"],
    ["not a number", { "llama.context_length": Number.NaN }, "context_length", "0 to 4294967295"],
    [
      "a number beyond 32 bits",
      { "llama.embedding_length": 2n ** 63n },
      "embedding_length",
      "0 to 4294967295",
    ],
    [
      "more prediction blocks than blocks",
      { "llama.nextn_predict_layers": 400 },
      "nextn_predict_layers",
      "0 to 31",
    ],
  ];

  it.each(lies)("%s: one error that names the key and its range", (_, lie, key, range) => {
    const refused = (): unknown => modelOf(headerOf({ ...honest, ...lie }));
    expect(refused).toThrow(UserError);
    expect(refused).toThrow(`llama.${key} is `);
    expect(refused).toThrow(`from ${range}.`);
  });

  it.each([0, 257, 262_144])("%d loops over two layers, which may be 256", (loops) => {
    const looped = { "general.architecture": "nanbeige", "nanbeige.block_count": 2 };
    const read = (count: number): number =>
      modelOf(headerOf({ ...looped, "nanbeige.num_loops": count })).layers.length;
    expect(() => read(loops)).toThrow("from 1 to 256.");
    expect(read(256)).toBe(512);
  });

  const largest = 2 ** 32 - 1;
  const extremes: readonly [string, Record<string, MetadataValue>][] = [
    [
      "the largest of everything",
      Object.fromEntries(
        Object.keys(honest).map((key) => [
          key,
          key === "general.architecture" ? "llama" : key === "llama.block_count" ? 512 : largest,
        ]),
      ),
    ],
    ["all experts at once", { "llama.expert_count": 1024, "llama.expert_used_count": 1024 }],
    ["a list that is too short", { "llama.attention.head_count_kv": [8] }],
    ["no architecture", { "general.architecture": "" }],
    ["nothing at all", Object.fromEntries(Object.keys(honest).map((key) => [key, 0]))],
  ];

  it.each(extremes)("%s: bounded and finite", (_, extreme) => {
    const model = modelOf(headerOf({ ...honest, ...extreme }));
    const { totalBytes, interval } = memoryBudget(model, { ctxSize: 4096 }, []);
    for (const value of [totalBytes, interval.lowBytes, interval.highBytes]) {
      expect(Number.isFinite(value)).toBe(true);
      expect(value).toBeGreaterThanOrEqual(0);
    }
  });

  it("is said to be doubtful by the key where a list is too short", () => {
    const { warnings } = describeModel(headerOf({ ...honest, "llama.attention.head_count_kv": [8] }));
    expect(warnings.map(({ code }) => code)).toContain("headerValueIgnored");
  });

  it("an empty header yields what is certain: nothing", () => {
    const description = describeModel(headerOf({}));
    expect(description.layers).toEqual([]);
    expect(description.warnings.map(({ code }) => code)).toContain("architectureUnknown");
  });
});
