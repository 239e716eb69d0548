import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRunning } from "../../support/isRunning";
import { runLlamaProgram, startLlamaServer, startRpcServer } from "../../support/llamaCpp";

let folder: string;
let model: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "llama-gauge-"));
  const made = await runLlamaProgram("test-llama-archs", ["-a", "qwen2", "-o", folder]);
  expect(made.exitCode).toBe(0);
  model = path.join(folder, "qwen2-dense.gguf");
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe("a real llama.cpp for the tests", () => {
  it("starts a server, and stops it", async () => {
    const server = await startLlamaServer({ model, args: ["-c", "256"] });
    expect(await (await fetch(`${server.url}/health`)).json()).toEqual({ status: "ok" });
    expect(isRunning(server.pid)).toBe(true);
    await server.stop();
    expect(isRunning(server.pid)).toBe(false);
    await expect(fetch(`${server.url}/health`)).rejects.toThrow();
  });

  it("fails with the server's own words when the model is broken", async () => {
    const broken = path.join(folder, "broken.gguf");
    await writeFile(broken, "GGUF or not");
    await expect(startLlamaServer({ model: broken })).rejects.toThrow(/failed to load model|gguf_init/);
  });

  it("stops a start that is aborted", async () => {
    const controller = new AbortController();
    const starting = startLlamaServer({ model, args: ["-c", "256"], signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(starting).rejects.toThrow("enough");
  });

  it("offers an RPC server as a device of its own", async () => {
    const rpc = await startRpcServer();
    try {
      const devices = await runLlamaProgram("llama-server", ["--rpc", rpc.endpoint, "--list-devices"]);
      expect(devices.stdout + devices.stderr).toContain(rpc.endpoint);
    } finally {
      await rpc.stop();
    }
    expect(isRunning(rpc.pid)).toBe(false);
  });
});
