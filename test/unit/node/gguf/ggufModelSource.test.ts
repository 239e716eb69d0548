import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelOf } from "../../../../src/core/model/modelOf";
import { UserError } from "../../../../src/core/userError";
import { readGgufHeader } from "../../../../src/node/gguf/ggufModelSource";
import type { GgufMetadata } from "../../../support/forge/ggufValue";
import { ggufHeaderBytes, writeGguf, type GgufFile } from "../../../support/forge/writeGguf";
import { startHttpStub, type StubServer } from "../../../support/stubServer";

const never = new AbortController().signal;
let folder: string;
let small: string;

const words = Array.from({ length: 60_000 }, (_, i) => `token${i}`);
const metadata: GgufMetadata = new Map([
  ["general.architecture", { type: "string", value: "llama" }],
  ["general.name", { type: "string", value: "Small" }],
  ["llama.block_count", { type: "u32", value: 2 }],
  ["llama.context_length", { type: "u32", value: 4096 }],
  ["llama.embedding_length", { type: "u32", value: 64 }],
  ["llama.attention.head_count", { type: "u32", value: 4 }],
  ["llama.attention.head_count_kv", { type: "array", of: "u32", values: [2, 1] }],
  ["tokenizer.ggml.model", { type: "string", value: "gpt2" }],
  ["tokenizer.ggml.tokens", { type: "array", of: "string", values: words }],
] as const);
const file: GgufFile = {
  metadata,
  tensors: [
    { name: "token_embd.weight", type: "f16", shape: [64, 60_000], fill: { constant: 1 } },
    { name: "blk.0.attn_q.weight", type: "f16", shape: [64, 64], fill: { constant: 1 } },
  ],
};

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-gguf-"));
  small = path.join(folder, "small.gguf");
  await writeGguf(small, file, { weights: "sparse" });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function problem(locator: string): Promise<UserError> {
  const error: unknown = await readGgufHeader(locator, never).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof UserError) return error;
  throw new Error(`expected a UserError for ${locator}`, { cause: error });
}

async function broken(name: string, change: (bytes: Buffer) => Buffer): Promise<UserError> {
  const target = path.join(folder, name);
  await writeFile(target, change(ggufHeaderBytes(file)));
  return problem(target);
}

/** The length field behind a key's name and the types of its value. */
function withLength(bytes: Buffer, key: string, length: bigint): Buffer {
  const at = bytes.indexOf(key) + key.length + 8;
  bytes.writeBigUInt64LE(length, at);
  return bytes;
}

describe("header of a local GGUF", () => {
  it("has the values and tensors that were written, without the vocabulary", async () => {
    const header = await readGgufHeader(small, never);
    expect(header.metadata.get("llama.attention.head_count_kv")).toEqual([2, 1]);
    expect(header.metadata.has("tokenizer.ggml.tokens")).toBe(false);
    expect(header.vocabularySize).toBe(60_000);
    expect(header.tensors).toEqual([
      { name: "token_embd.weight", shape: [64, 60_000], type: 1, bytes: 64 * 60_000 * 2 },
      { name: "blk.0.attn_q.weight", shape: [64, 64], type: 1, bytes: 64 * 64 * 2 },
    ]);
    expect(header.truncated).toBeUndefined();
    expect(modelOf(header).layers.map((layer) => layer.kvHeads)).toEqual([2, 1]);
  });

  it("says where a download ended early, in the weights or in the header", async () => {
    const half = path.join(folder, "half.gguf");
    await writeGguf(half, file, { weights: "sparse" });
    await truncate(half, ggufHeaderBytes(file).length + 1000);
    const header = await readGgufHeader(half, never);
    expect(header.truncated).toBe(true);
    expect(modelOf(header).warnings.map(({ code }) => code)).toContain("fileTruncated");
    expect((await broken("cut.gguf", (bytes) => bytes.subarray(0, 5000))).message).toContain(
      "middle of its header",
    );
  });

  it.each([
    ["no GGUF", (bytes: Buffer) => Buffer.from(`<html>${bytes.toString("latin1").slice(0, 5000)}`)],
    ["an array of 2^60 strings", (bytes: Buffer) => withLength(bytes, "tokenizer.ggml.tokens", 2n ** 60n)],
    [
      "an array of 2^40 numbers",
      (bytes: Buffer) => withLength(bytes, "llama.attention.head_count_kv", 2n ** 40n),
    ],
    ["2^63 keys", (bytes: Buffer) => (bytes.writeBigUInt64LE(2n ** 63n, 16), bytes)],
    ["2^50 tensors", (bytes: Buffer) => (bytes.writeBigUInt64LE(2n ** 50n, 8), bytes)],
    ["version 99", (bytes: Buffer) => (bytes.writeUInt32LE(99, 4), bytes)],
    ["an empty file", () => Buffer.alloc(0)],
  ])("%s is one clear error at once", async (name, change) => {
    const error = await broken("broken.gguf", change);
    expect(["invalidInput", "tooLarge"]).toContain(error.reason);
    expect(error.message, name).toContain("broken.gguf");
  });

  it("names the part of a sharded model that is missing", async () => {
    const first = path.join(folder, "big-00001-of-00002.gguf");
    await writeGguf(first, file, { weights: "sparse" });
    const error = await problem(first);
    expect(error.reason).toBe("notFound");
    expect(error.message).toContain("big-00002-of-00002.gguf");
    await writeGguf(
      path.join(folder, "big-00002-of-00002.gguf"),
      { metadata: new Map(), tensors: file.tensors.slice(1) },
      { weights: "sparse" },
    );
    expect((await readGgufHeader(first, never)).tensors).toHaveLength(3);
  });
});

describe("header of a remote GGUF", () => {
  async function served(
    serve: (
      range: string | undefined,
      bytes: Buffer,
    ) => { status: number; headers?: Record<string, string>; body?: Buffer },
    use: (url: string, seen: { requests: number; bytes: number }) => Promise<void>,
  ): Promise<void> {
    const bytes = Buffer.concat([ggufHeaderBytes(file), Buffer.alloc(64 * 60_000 * 2 + 8192)]);
    const seen = { requests: 0, bytes: 0 };
    const stub: StubServer = await startHttpStub((request, response) => {
      const { status, headers, body } = serve(request.headers.range, bytes);
      seen.requests++;
      seen.bytes += body?.byteLength ?? 0;
      response.writeHead(status, headers).end(body);
    });
    try {
      await use(`${stub.url}/model.gguf`, seen);
    } finally {
      await stub.close();
    }
  }

  it("comes through ranges in at most 3 requests and 4 MiB", () =>
    served(
      (range, bytes) => {
        const [, from = "0", to = "0"] = /bytes=(\d+)-(\d+)/.exec(range ?? "") ?? [];
        const body = bytes.subarray(Number(from), Number(to) + 1);
        return { status: 206, headers: { "content-range": `bytes ${from}-${to}/${bytes.length}` }, body };
      },
      async (url, seen) => {
        const header = await readGgufHeader(url, never);
        expect(header.tensors).toHaveLength(2);
        expect(header.fileBytes).toBeGreaterThan(7_000_000);
        expect(seen.requests).toBeLessThanOrEqual(3);
        expect(seen.bytes).toBeLessThanOrEqual(4 * 2 ** 20);
      },
    ));

  it("comes from a server that knows no ranges, too", () =>
    served(
      (_, bytes) => ({ status: 200, headers: { "content-length": String(bytes.length) }, body: bytes }),
      async (url) => expect((await readGgufHeader(url, never)).vocabularySize).toBe(60_000),
    ));

  it.each([
    [404, "notFound"],
    [401, "unauthorized"],
  ])("status %i is %s", (status, reason) =>
    served(
      () => ({ status }),
      async (url) => expect((await problem(url)).reason).toBe(reason),
    ),
  );

  it("a redirect loop ends", () =>
    served(
      () => ({ status: 302, headers: { location: "/model.gguf" } }),
      async (url) => expect((await problem(url)).reason).toBe("badOutput"),
    ));
});
