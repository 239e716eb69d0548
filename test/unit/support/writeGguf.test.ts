import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { gguf } from "@huggingface/gguf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  bool,
  boolArray,
  f32,
  f32Array,
  i32,
  i32Array,
  str,
  strArray,
  u32,
  u32Array,
  u64,
  type GgufMetadata,
} from "../../support/forge/ggufValue";
import { tensorData, type TensorSpec } from "../../support/forge/tensor";
import { writeGguf } from "../../support/forge/writeGguf";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "llama-gauge-gguf-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const tensors: readonly TensorSpec[] = [
  { name: "a", shape: [5], type: "f32", fill: { constant: 1 } },
  { name: "b", shape: [64, 3], type: "q8_0", fill: { random: 0.5 } },
  { name: "c", shape: [7, 2, 2], type: "f16", fill: { random: 0.5 } },
];

function metadata(alignment?: number): GgufMetadata {
  const values: GgufMetadata = new Map([
    ["general.architecture", str("llama")],
    ["x.u32", u32(4_294_967_295)],
    ["x.i32", i32(-5)],
    ["x.u64", u64(2 ** 40)],
    ["x.f32", f32(0.5)],
    ["x.bool", bool(true)],
    ["x.text", str("日本 \u{1F600}\u0000")],
    ["x.texts", strArray(["", "Ġa", "b"])],
    ["x.bools", boolArray([true, false])],
    ["x.u32s", u32Array([1, 2])],
    ["x.i32s", i32Array([-1, 0])],
    ["x.f32s", f32Array([0.25])],
    ["x.none", i32Array([])],
  ]);
  if (alignment !== undefined) values.set("general.alignment", u32(alignment));
  return values;
}

async function read(file: string): Promise<Awaited<ReturnType<typeof gguf>>> {
  return gguf(file, { allowLocalFile: true });
}

describe("a GGUF file we write", () => {
  it.each([[undefined], [64], [256]])("is read back by another reader (alignment %s)", async (alignment) => {
    const file = path.join(folder, `written-${String(alignment)}.gguf`);
    await writeGguf(file, { metadata: metadata(alignment), tensors });
    const parsed = await read(file);
    expect(parsed.metadata).toMatchObject({
      version: 3,
      tensor_count: 3n,
      "general.architecture": "llama",
      "x.u32": 4_294_967_295,
      "x.i32": -5,
      "x.u64": 2n ** 40n,
      "x.f32": 0.5,
      "x.bool": true,
      "x.text": "日本 \u{1F600}\u0000",
      "x.texts": ["", "Ġa", "b"],
      "x.bools": [true, false],
      "x.u32s": [1, 2],
      "x.i32s": [-1, 0],
      "x.f32s": [0.25],
      "x.none": [],
    });
    const align = alignment ?? 32;
    expect(parsed.tensorInfos.map(({ name, shape, dtype }) => [name, shape.map(Number), dtype])).toEqual([
      ["a", [5], 0],
      ["b", [64, 3], 8],
      ["c", [7, 2, 2], 1],
    ]);
    const start = Number(parsed.tensorDataOffset);
    expect(start % align).toBe(0);
    const bytes = await readFile(file);
    for (const [i, info] of parsed.tensorInfos.entries()) {
      const offset = Number(info.offset);
      expect(offset % align).toBe(0);
      const tensor = tensors[i];
      if (tensor === undefined) throw new Error("a tensor too many");
      const data = tensorData(tensor, 1000 + i + 1);
      expect(bytes.subarray(start + offset, start + offset + data.length).equals(data)).toBe(true);
    }
  });

  it("has the same length when sparse, and no weights", async () => {
    const [full, sparse] = [path.join(folder, "full.gguf"), path.join(folder, "sparse.gguf")];
    await writeGguf(full, { metadata: metadata(), tensors });
    await writeGguf(sparse, { metadata: metadata(), tensors }, { weights: "sparse" });
    expect((await stat(sparse)).size).toBe((await stat(full)).size);
    const { tensorDataOffset } = await read(sparse);
    expect((await readFile(sparse)).subarray(Number(tensorDataOffset)).every((byte) => byte === 0)).toBe(
      true,
    );
  });
});

describe("weights", () => {
  it("stay within their reach in every type", () => {
    const half = (bits: number): number => {
      const exponent = (bits >>> 10) & 31;
      const size = exponent === 0 ? 0 : (1 + (bits & 1023) / 1024) * 2 ** (exponent - 15);
      return bits & 0x8000 ? -size : size;
    };
    const tensor = (type: TensorSpec["type"]): Buffer =>
      tensorData({ name: "w", shape: [3200], type, fill: { random: 0.1 } }, 3);
    const f16 = tensor("f16");
    const values = Array.from({ length: 3200 }, (_, i) => half(f16.readUInt16LE(2 * i)));
    expect(Math.max(...values)).toBeGreaterThan(0.09);
    expect(Math.max(...values.map(Math.abs))).toBeLessThanOrEqual(0.1);
    expect(Math.abs(values.reduce((sum, value) => sum + value, 0) / 3200)).toBeLessThan(0.01);
    const q8 = tensor("q8_0");
    expect(q8).toHaveLength(100 * 34);
    expect(half(q8.readUInt16LE(0)) * 127).toBeCloseTo(0.1, 3);
    const f32Values = tensor("f32");
    expect(Math.abs(f32Values.readFloatLE(0))).toBeLessThanOrEqual(0.1);
  });
});
