import { createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { slotContext } from "../../src/core/launch/slotContext";
import { formatText } from "../../src/core/format";
import { parseArguments } from "../../src/core/launch/commandLine";
import { launchAdvice } from "../../src/core/launch/launchRules";
import { explainLog } from "../../src/core/logs/explainLog";
import { forgedModel } from "../support/forge/forgeModel";
import { runLlamaProgram, startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { postJson } from "../support/postJson";

const started: LlamaServerProcess[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

async function start(args: readonly string[]): Promise<LlamaServerProcess> {
  const server = await startLlamaServer({ model: await forgedModel({ contextLength: 2048 }), args });
  started.push(server);
  return server;
}

/** The log of a server that does not come up. */
async function failingLog(
  args: readonly string[],
): Promise<{ readonly log: string; readonly code: number | undefined }> {
  const { stdout, stderr, exitCode } = await runLlamaProgram("llama-server", ["--offline", ...args], {
    timeoutMs: 60_000,
  });
  return { log: stdout + stderr, code: exitCode };
}

describe("the log of a real llama-server", () => {
  it("gives the facts the server itself reports", async () => {
    const args = ["-lv", "4", "-c", "1000", "-np", "3", "-ub", "128", "-ctk", "q8_0"];
    const server = await start(args);
    const props = (await (await fetch(`${server.url}/props`)).json()) as {
      readonly total_slots: number;
      readonly build_info: string;
      readonly default_generation_settings: { readonly n_ctx: number };
    };
    await postJson(`${server.url}/completion`, { prompt: "one two three four", n_predict: 4 });
    await server.stop();
    const { facts, totals, events } = explainLog(server.log());
    expect(facts).toMatchObject({
      loaded: true,
      url: server.url,
      slots: { count: props.total_slots, nCtx: props.default_generation_settings.n_ctx, unified: false },
      model: { path: await forgedModel({ contextLength: 2048 }), nCtxTrain: 2048 },
    });
    expect(facts.build?.split(" ")[0]).toBe(props.build_info.split("-")[0]);
    const [context] = facts.contexts;
    expect(facts.contexts).toHaveLength(1);
    expect(context).toMatchObject({
      nCtx: 1536,
      nCtxSeq: 512,
      nSeqMax: 3,
      nUbatch: 128,
      flashAttn: "on",
      kvUnified: false,
    });
    const { nLayer = 0, nHeadKv = 0, nEmbdHeadK = 0, nEmbdHeadV = 0 } = facts.model ?? {};
    // K: blocks of 32 elements in 34 bytes; V: 2 bytes per element
    const kv = 1536 * nLayer * nHeadKv * ((nEmbdHeadK * 34) / 32 + nEmbdHeadV * 2);
    expect(context?.kv).toMatchObject([
      { cells: 512, layers: nLayer, typeK: "q8_0", typeV: "f16", sequences: 3, streams: 3 },
    ]);
    expect(Math.abs(totals.kvBytes - kv)).toBeLessThan(0.006 * 2 ** 20);
    expect(totals.weightsBytes).toBeGreaterThan(0);
    expect(totals.computeBytes).toBeGreaterThan(0);
    expect(facts.requests).toMatchObject([{ promptTokens: 4, generatedTokens: 4, truncated: false }]);
    expect(events.filter(({ severity }) => severity === "error")).toEqual([]);
  });

  it("tells what a request without room means", async () => {
    const server = await start(["-c", "1024", "-np", "2"]);
    const response = await fetch(`${server.url}/completion`, {
      method: "POST",
      body: JSON.stringify({ prompt: Array(600).fill(1) }),
    });
    expect(response.status).toBe(400);
    await server.stop();
    const [event] = explainLog(server.log()).events.filter(({ kind }) => kind === "contextExceeded");
    expect(event && formatText(event.cause)).toContain("divided: each of 2 slots has 512 tokens");
    // what the remedy names is enough
    const asked = Number(/-c (\d+)/.exec(event === undefined ? "" : formatText(event.remedy))?.[1]);
    expect(slotContext({ ctxSize: asked, parallel: 2 }, 32_768).nCtxPerSlot).toBeGreaterThan(600);
  });

  it.each([
    ["-fa off -ctv q8_0", "quantisedVNeedsFlashAttn"],
    ["-np 300", "tooManySlots"],
    ["-sm tensor -fit off", "splitModeNotPossible"],
    ["--mmproj MODEL.txt", "mmprojMismatch"],
    ["-c x", "invalidValue"],
    ["--no-mmap", "invalidArgument"],
    ["--draft-max 4", "invalidValue"],
    ["-ot exps=CUDA7", "invalidValue"],
  ])("explains why a start with %s fails", async (line, kind) => {
    const model = await forgedModel({ contextLength: 2048 });
    const { log, code } = await failingLog(["-m", model, ...line.split(" ")]);
    expect(code).not.toBe(0);
    const errors = explainLog(log).events.filter(({ severity }) => severity === "error");
    expect(errors.map((event) => event.kind)).toContain(kind);
    expect(errors.map((event) => event.kind)).not.toContain("loadFailed");
  });

  it("explains a model file that is missing or none", async () => {
    const missing = await failingLog(["-m", "/nowhere/at/all.gguf"]);
    expect(explainLog(missing.log).events.map(({ kind }) => kind)).toEqual(["fileMissing"]);
    const none = await failingLog(["-m", import.meta.filename]);
    expect(explainLog(none.log).events.map(({ kind }) => kind)).toEqual(["fileBroken"]);
  });

  it("explains a port that is taken", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const address = taken.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const model = await forgedModel({ contextLength: 2048 });
    const { log } = await failingLog(["-m", model, "--port", String(port)]);
    await new Promise((resolve) => taken.close(resolve));
    const [event] = explainLog(log).events.filter(({ kind }) => kind === "portInUse");
    expect(event && formatText(event.cause)).toContain(String(port));
  });
});

describe("errors foreseen from launch options and the real server", () => {
  it.each([
    "-fa off -ctv q8_0",
    "-fa off -ctk q8_0",
    "-fa on -ctk q4_0 -ctv q4_0",
    "-ctv q8_0",
    "-np 300",
    "-np 256 -c 0",
    "-b 16 -ub 64",
    "-c 4096 -np 1",
    "-no-kvu -c 512",
    "-c 1000 -np 3",
    "-mg 3 -ngl 2 -ts 1,1 -c 512",
    "--spec-draft-n-max 3 -c 512",
  ])("agree about %s", async (line) => {
    const args = line.split(" ");
    const foreseen = launchAdvice(parseArguments(args).options, {
      trained: { contextLength: 2048, rope: {} },
      headDimK: 64,
      headDimV: 64,
    }).some(({ severity }) => severity === "error");
    const comesUp = await start(args).then(
      () => true,
      () => false,
    );
    expect(comesUp).toBe(!foreseen);
  });
});
