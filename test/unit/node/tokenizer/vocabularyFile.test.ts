import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packedAt, packedCount } from "../../../../src/core/model/tokenizerSpec";
import { createTokenizerFrom } from "../../../support/kernelOf";
import { UserError } from "../../../../src/core/userError";
import { readVocabulary } from "../../../../src/node/tokenizer/vocabularyFile";
import {
  bool,
  f32Array,
  i32Array,
  str,
  strArray,
  u32,
  type GgufMetadata,
} from "../../../support/forge/ggufValue";
import { ggufHeaderBytes } from "../../../support/forge/writeGguf";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "gauge-vocabulary-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const tokens = ["a", "b", "ab", "Ġ", "Ċ", "<|end|>"];
const usual: GgufMetadata = new Map([
  ["general.architecture", str("llama")],
  ["general.name", str("Tiny")],
  ["tokenizer.ggml.model", str("gpt2")],
  ["tokenizer.ggml.pre", str("qwen2")],
  ["tokenizer.ggml.tokens", strArray(tokens)],
  ["tokenizer.ggml.token_type", i32Array([1, 1, 1, 1, 1, 3])],
  ["tokenizer.ggml.scores", f32Array([0, 0, 0, 0, 0, 0])],
  ["tokenizer.ggml.merges", strArray(["a b"])],
  ["tokenizer.ggml.bos_token_id", u32(5)],
  ["tokenizer.ggml.add_bos_token", bool(true)],
]);

function written(metadata: GgufMetadata): Buffer {
  return ggufHeaderBytes({ metadata, tensors: [] });
}

function fileWith(bytes: Uint8Array): string {
  const file = path.join(folder, "model.gguf");
  writeFileSync(file, bytes);
  return file;
}

const changed = (changes: GgufMetadata): GgufMetadata => new Map([...usual, ...changes]);

/** The error of reading a file and making a tokenizer of it. */
function errorOf(bytes: Uint8Array): UserError {
  try {
    createTokenizerFrom(readVocabulary(fileWith(bytes)));
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error("nothing went wrong");
}

describe("reading a vocabulary", () => {
  it("takes what the file says", () => {
    const spec = readVocabulary(fileWith(written(usual)));
    expect(spec).toMatchObject({
      model: "gpt2",
      pre: "qwen2",
      architecture: "llama",
      name: "Tiny",
      ids: { bos: 5 },
      addBos: true,
    });
    const texts = Array.from({ length: packedCount(spec.tokens) }, (_, i) => packedAt(spec.tokens, i));
    expect(texts.map((text) => Buffer.from(text).toString())).toEqual(tokens);
    expect(spec.tokenTypes).toEqual(new Int32Array([1, 1, 1, 1, 1, 3]));
  });

  it("is one clear error wherever the file is cut off", () => {
    const bytes = written(usual);
    const end = bytes.indexOf("add_bos_token") + 20;
    for (let length = 0; length < end; length += 7) {
      expect(errorOf(bytes.subarray(0, length)).reason).toBe("invalidInput");
    }
  });

  it.each(["tokens", "merges"])("allocates nothing for absurd sizes of %s", (name) => {
    const bytes = written(usual);
    const count = bytes.indexOf(`tokenizer.ggml.${name}`) + `tokenizer.ggml.${name}`.length + 8;
    for (const [low, high] of [
      [0xffffffff, 0xffffffff],
      [0, 0x10000000],
      [0xffffff, 0],
    ] as const) {
      const hostile = Buffer.from(bytes);
      hostile.writeUInt32LE(low, count);
      hostile.writeUInt32LE(high, count + 4);
      const before = process.memoryUsage().arrayBuffers;
      expect(errorOf(hostile).reason).toBe("invalidInput");
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 24);
    }
  });

  it("allocates nothing for a huge token in a huge sparse file", () => {
    const bytes = written(usual);
    const hostile = Buffer.from(bytes);
    hostile.writeBigUInt64LE(2n ** 33n, bytes.indexOf("tokenizer.ggml.tokens") + 21 + 16);
    const file = fileWith(hostile);
    truncateSync(file, 2 ** 36);
    expect(() => readVocabulary(file)).toThrow(UserError);
  });

  it.each([
    ["no GGUF", Buffer.from("not a model at all, just text")],
    ["empty", Buffer.alloc(0)],
    ["no vocabulary", written(new Map([["general.architecture", str("llama")]]))],
    ["tokens that are no texts", written(changed(new Map([["tokenizer.ggml.tokens", i32Array([1, 2])]])))],
    ["a model that is no text", written(changed(new Map([["tokenizer.ggml.model", u32(1)]])))],
    ["too few types", written(changed(new Map([["tokenizer.ggml.token_type", i32Array([1, 1])]])))],
    ["too few scores", written(changed(new Map([["tokenizer.ggml.scores", f32Array([1])]])))],
    ["no tokens", written(changed(new Map([["tokenizer.ggml.tokens", strArray([])]])))],
    [
      "a token twice",
      written(changed(new Map([["tokenizer.ggml.tokens", strArray(["a", "b", "ab", "c", "a", "d"])]]))),
    ],
    [
      "a special token twice",
      written(changed(new Map([["tokenizer.ggml.tokens", strArray(["a", "b", "ab", "< >", "c", "< >"])]]))),
    ],
    ["no merges", written(new Map([...usual].filter(([key]) => key !== "tokenizer.ggml.merges")))],
  ])("is one clear error: %s", (_name, bytes) => {
    expect(errorOf(bytes).reason).toBe("invalidInput");
  });

  it.each([
    ["tokenizer.ggml.model", "tiktoken-ng"],
    ["tokenizer.ggml.model", "constructor"],
    ["tokenizer.ggml.pre", "qwen99"],
    ["tokenizer.ggml.pre", "__proto__"],
  ])("refuses by name what it does not know: %s %s", (key, value) => {
    const error = errorOf(written(changed(new Map([[key, str(value)]]))));
    expect(error.reason).toBe("unsupported");
    expect(error.message).toContain(value);
  });

  it.each([
    ["tokenizer.ggml.pre", u32(1)],
    ["tokenizer.ggml.add_bos_token", u32(1)],
    ["tokenizer.ggml.bos_token_id", str("<s>")],
    ["tokenizer.ggml.scores", i32Array([1])],
    ["tokenizer.ggml.token_type", strArray(["1"])],
  ] as const)("names the key whose value cannot be used: %s", (key, value) => {
    const error = errorOf(written(changed(new Map([[key, value]]))));
    expect(error.reason).toBe("invalidInput");
    expect(error.message).toContain(key);
  });

  it("takes an id by its old name last, where there is such a token, as llama.cpp does", () => {
    const ids = (old: number) =>
      readVocabulary(
        fileWith(
          written(
            new Map([
              ["tokenizer.ggml.prefix_token_id", u32(old)],
              ...changed(new Map([["tokenizer.ggml.fim_pre_token_id", u32(1)]])),
            ]),
          ),
        ),
      ).ids;
    expect(ids(2).fimPrefix).toBe(2);
    expect(ids(4_294_967_295).fimPrefix).toBe(1);
  });

  it("takes texts as llama.cpp does: up to a NUL", () => {
    const texts = ["a", "b\0c", "ab", "Ġ", "Ċ", "<|end|>\0x"];
    const kernel = createTokenizerFrom(
      readVocabulary(fileWith(written(changed(new Map([["tokenizer.ggml.tokens", strArray(texts)]]))))),
    );
    expect(Array.from(kernel.encode("ab b<|end|>", { parseSpecial: true }))).toEqual([2, 3, 1, 5]);
  });

  it("does not wait for a pipe, nor read a folder", () => {
    const pipe = path.join(folder, "pipe.gguf");
    execFileSync("mkfifo", [pipe]);
    for (const each of [pipe, folder]) expect(() => readVocabulary(each)).toThrow(UserError);
  });

  it("reads a file of the wrong byte order or version as not supported", () => {
    const bytes = written(usual);
    bytes.writeUInt32BE(3, 4);
    expect(errorOf(bytes).reason).toBe("unsupported");
  });

  it("takes merges that name no token: what they make falls back to bytes", () => {
    const kernel = createTokenizerFrom(
      readVocabulary(
        fileWith(
          written(
            changed(
              new Map([["tokenizer.ggml.merges", strArray(["a b", "b a", "ab ab", "x y", "nonsense", ""])]]),
            ),
          ),
        ),
      ),
    );
    expect(Array.from(kernel.encode("abab"))).toEqual([0, 1, 0, 1]);
    expect(kernel.count("abab")).toBe(4);
  });
});
