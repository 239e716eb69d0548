import { afterEach, describe, expect, it } from "vitest";
import { runningLlamaServers } from "../../src/node/machine/processDiscovery";
import { forgedModel } from "../support/forge/forgeModel";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";

const signal = new AbortController().signal;
const started: LlamaServerProcess[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

async function start(args: readonly string[], env: Record<string, string> = {}): Promise<LlamaServerProcess> {
  const model = await forgedModel({ contextLength: 2048 });
  const server = await startLlamaServer({ model, args, env, until: "listening" });
  started.push(server);
  return server;
}

describe("llama-servers that run on this machine", () => {
  it("are found with their flags, and their end is noticed", async () => {
    const model = await forgedModel({ contextLength: 2048 });
    const [first, second] = await Promise.all([
      start(["-c", "1024", "-np", "1", "-ctk", "q8_0", "--alias", "two words"]),
      start(["--api-key", "hunter2"], { LLAMA_ARG_CTX_SIZE: "512", LLAMA_ARG_N_PARALLEL: "2" }),
    ]);
    const mine = new Set([first.pid, second.pid]);
    const before = (await runningLlamaServers(signal)).filter(({ pid }) => mine.has(pid));
    const byPid = new Map(before.map((server) => [server.pid, server]));
    expect(byPid.get(first.pid)).toMatchObject({
      role: "single",
      urls: [first.url],
      needsKey: false,
      options: {
        model,
        ctxSize: 1024,
        parallel: 1,
        cacheTypeK: "q8_0",
        alias: "two words",
        port: first.port,
      },
    });
    expect(byPid.get(second.pid)).toMatchObject({
      urls: [second.url],
      needsKey: true,
      options: { model, ctxSize: 512, parallel: 2 },
    });
    expect(byPid.get(second.pid)?.origins.get("ctxSize")).toEqual({
      kind: "environment",
      variable: "LLAMA_ARG_CTX_SIZE",
    });
    expect(JSON.stringify(before)).not.toContain("hunter2");

    await second.stop();
    const after = (await runningLlamaServers(signal)).filter(({ pid }) => mine.has(pid));
    expect(after.map(({ pid }) => pid)).toEqual([first.pid]);
  });

  it("are not looked for after an abort", async () => {
    await expect(runningLlamaServers(AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  });
});
