import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LaunchOptions } from "../../src/core/launch/launchOptions";
import type { MemoryDevice } from "../../src/core/memory/devices/memoryDevice";
import { memoryBudget } from "../../src/core/memory/budget/memoryBudget";
import { breakdown } from "../../src/core/memory/budget/breakdown";
import { fitPrintArguments, probedBudget } from "../../src/core/memory/budget/fitParams";
import type { Model } from "../../src/core/model/model";
import { modelOf } from "../../src/core/model/modelOf";
import { listDevices } from "../../src/node/machine/measureMemory";
import { FitProbe, fitPrint } from "../../src/node/machine/fitProbe";
import { readGgufHeader } from "../../src/node/gguf/ggufModelSource";
import { llamaProgram, startRpcServer, type RpcServerProcess } from "../support/llamaCpp";
import { headers } from "../unit/core/memory/fixtures";
import { writeSparseModel } from "./memory/sparseModel";

const MiB = 2 ** 20;
const signal = new AbortController().signal;

let folder: string;
let program: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "llama-gauge-memory-"));
  program = await llamaProgram("llama-fit-params");
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function sparse(name: string): Promise<{ readonly file: string; readonly model: Model }> {
  const header = headers().get(name);
  if (header === undefined) throw new Error(`no header of ${name}`);
  const file = path.join(folder, name);
  await writeSparseModel(file, header);
  return { file, model: modelOf(await readGgufHeader(file, signal)) };
}

const models = [
  "llama-3.1-8b-q4_k_m.gguf",
  "qwen3.6-35b-a3b-mtp-q4_k_m.gguf",
  "gemma-3-12b-q4_k_m.gguf",
  "gpt-oss-20b-mxfp4.gguf",
  "deepseek-v2-lite-q4_k_m.gguf",
  "rwkv6-7b-q8_0.gguf",
  "gemma-3n-e4b-q8_0.gguf",
];

const settings: readonly LaunchOptions[] = [
  { ctxSize: 32_768, parallel: 1 },
  { ctxSize: 20_000, parallel: 3 },
  { ctxSize: 16_384, parallel: 1, cacheTypeK: "q8_0", cacheTypeV: "q8_0", flashAttn: "on" },
  { ctxSize: 8192, parallel: 1, flashAttn: "off", ubatchSize: 256 },
  { ctxSize: 65_536, parallel: 2, cacheTypeK: "f32", cacheTypeV: "f32", flashAttn: "on", ubatchSize: 64 },
];

describe("the real llama-fit-params", () => {
  it.each(models)("allocates for %s what is computed", async (name) => {
    const { file, model } = await sparse(name);
    for (const options of settings) {
      const asked = { ...options, fit: false };
      const [host] = await fitPrint(program, fitPrintArguments(file, asked), signal);
      const ours = breakdown(model, asked, [], { caller: "fitParams" }).rows[0];
      if (host === undefined || ours === undefined) throw new Error("a row for the host");
      const label = `${name} ${JSON.stringify(options)}`;
      expect(host.name).toBe("Host");
      expect(Math.floor((ours.kv + ours.recurrent) / MiB), label).toBe(host.context);
      expect(Math.abs(ours.weights / MiB - host.model), label).toBeLessThanOrEqual(2);
      expect(Math.abs(ours.compute.bytes / MiB / host.compute - 1), label).toBeLessThanOrEqual(0.05);
    }
  });

  it("confirms the computed budget, once for all contexts", async () => {
    const { file, model } = await sparse("qwen3.6-35b-a3b-mtp-q4_k_m.gguf");
    const probe = new FitProbe();
    const request = { program, modelPath: file, model, options: { ctxSize: 32_768 }, devices: [] };
    const first = await probe.correction(request, signal);
    expect(first.confirmed).toBe(true);
    expect(await probe.correction({ ...request, options: { ctxSize: 65_536 } }, signal)).toBe(first);
    const probed = probedBudget(model, { ctxSize: 65_536 }, [], first);
    expect(probed.source).toBe("reported");
    expect(probed.totalBytes).toBe(memoryBudget(model, { ctxSize: 65_536 }, []).totalBytes);
  });

  it("corrects what is computed for an architecture nobody knows", async () => {
    const { file, model } = await sparse("deepseek-v2-lite-q4_k_m.gguf");
    // the same model with its rules forgotten: K and V of 16 heads are counted where only a latent is stored
    const forgetful: Model = {
      ...model,
      mla: undefined,
      layers: model.layers.map((layer) => ({ ...layer, kvHeads: 16, keyLength: 192, valueLength: 128 })),
    };
    const options: LaunchOptions = { ctxSize: 32_768, parallel: 1 };
    const request = { program, modelPath: file, model: forgetful, options, devices: [] };
    const correction = await new FitProbe().correction(request, signal);
    expect(correction.confirmed).toBe(false);
    const computed = memoryBudget(model, options, []);
    const probed = probedBudget(forgetful, options, [], correction);
    expect(Math.abs(probed.totalBytes - computed.totalBytes)).toBeLessThanOrEqual(8 * MiB);
  });

  it("says why it refuses", async () => {
    const { file, model } = await sparse("llama-3.1-8b-q4_k_m.gguf");
    const options: LaunchOptions = { ctxSize: 4096, flashAttn: "off", cacheTypeV: "q8_0" };
    const request = { program, modelPath: file, model, options, devices: [] };
    await expect(new FitProbe().correction(request, signal)).rejects.toThrow(/quantized V cache requires/);
    expect(memoryBudget(model, options, []).warnings.map(({ code }) => code)).toContain(
      "quantisedVWithoutFlashAttention",
    );
    const absent = { ...request, program: path.join(folder, "no-such-program") };
    await expect(new FitProbe().correction(absent, signal)).rejects.toMatchObject({ reason: "notFound" });
  });
});

describe("devices", () => {
  let servers: readonly RpcServerProcess[] = [];

  beforeAll(async () => {
    servers = [await startRpcServer(), await startRpcServer()];
  });

  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
  });

  it("lists RPC servers as llama.cpp sees them", async () => {
    const rpc = servers.map(({ endpoint }) => endpoint);
    const devices = await listDevices(await llamaProgram("llama-server"), rpc, signal);
    expect(devices.map(({ name }) => name)).toEqual(["RPC0", "RPC1"]);
    expect(devices[0]?.freeBytes).toBeGreaterThan(2 ** 30);
    expect(await listDevices(await llamaProgram("llama-server"), [], signal)).toEqual([]);
  });

  it("says so when one is gone", async () => {
    await expect(
      listDevices(await llamaProgram("llama-server"), ["127.0.0.1:9"], signal),
    ).rejects.toMatchObject({
      reason: "outsideFailed",
    });
  });

  it.each(["llama-3.1-8b-q4_k_m.gguf", "qwen3-30b-a3b-q4_k_m.gguf", "gemma-3-12b-q4_k_m.gguf"])(
    "divides %s over two devices as llama.cpp does",
    async (name) => {
      const { file, model } = await sparse(name);
      const rpc = servers.map(({ endpoint }) => endpoint);
      const devices: readonly MemoryDevice[] = await listDevices(
        await llamaProgram("llama-server"),
        rpc,
        signal,
      );
      const options: LaunchOptions = { ctxSize: 16_384, parallel: 1, rpc, tensorSplit: [2, 1], fit: false };
      const rows = await fitPrint(program, fitPrintArguments(file, options), signal);
      const ours = breakdown(model, options, devices, { caller: "fitParams" }).rows;
      expect(rows.map((row) => row.name)).toEqual(["RPC0", "RPC1", "Host"]);
      for (const [i, row] of rows.entries()) {
        const mine = ours[i];
        if (mine === undefined) throw new Error("a row for each device");
        expect(mine.name).toBe(row.name);
        expect(Math.abs(mine.weights / MiB - row.model - 0.5), row.name).toBeLessThanOrEqual(1.5);
        expect(Math.floor((mine.kv + mine.recurrent) / MiB), row.name).toBe(row.context);
        expect(Math.abs(mine.compute.bytes / MiB / row.compute - 1), row.name).toBeLessThanOrEqual(0.05);
      }
    },
  );

  it("moves a tied output with the embedding it shares", async () => {
    const { file, model } = await sparse("gemma-3-12b-q4_k_m.gguf");
    const rpc = servers.map(({ endpoint }) => endpoint);
    const devices = await listDevices(await llamaProgram("llama-server"), rpc, signal);
    const overrideTensor = [{ pattern: "token_embd", buffer: "CPU" }];
    const options: LaunchOptions = { ctxSize: 4096, parallel: 1, rpc, overrideTensor, fit: false };
    const rows = await fitPrint(program, fitPrintArguments(file, options), signal);
    const ours = breakdown(model, options, devices, { caller: "fitParams" }).rows;
    for (const [i, row] of rows.entries()) {
      const mine = ours[i];
      if (mine === undefined) throw new Error("a row for each device");
      expect(Math.abs(mine.weights / MiB - row.model - 0.5), row.name).toBeLessThanOrEqual(1.5);
      expect(Math.floor(mine.kv / MiB), row.name).toBe(row.context);
      expect(mine.compute.high / MiB, row.name).toBeGreaterThanOrEqual(row.compute);
    }
  });
});
