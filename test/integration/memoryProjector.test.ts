import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LaunchOptions } from "../../src/core/launch/launchOptions";
import { projectorNeed, projectorOf } from "../../src/core/memory/projector/projector";
import { modelOf } from "../../src/core/model/modelOf";
import { gatherBudgets } from "../../src/app/budgets";
import { readGgufHeader } from "../../src/node/gguf/ggufModelSource";
import { startProgram, waitFor } from "../support/childProcess";
import { forgedModel } from "../support/forge/forgeModel";
import { projectorModel, type ProjectorKind, type ProjectorSizes } from "../support/forge/projectorModel";
import { writeGguf } from "../support/forge/writeGguf";
import { freePort } from "../support/freePort";
import { llamaProgram, startRpcServer } from "../support/llamaCpp";

const MiB = 2 ** 20;
const never = new AbortController().signal;
let folder: string;
let model: string;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-projector-"));
  model = await forgedModel();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What llama-server says of a projector before it loads anything: MiB, all of it and by device. */
async function announced(
  mmproj: string,
  args: readonly string[],
): Promise<{ readonly total: number; readonly devices: ReadonlyMap<string, number> }> {
  const where = ["--host", "127.0.0.1", "--port", String(await freePort()), "--offline"];
  const what = ["-m", model, "--mmproj", mmproj, "-np", "1", "-lv", "5"];
  const server = startProgram(await llamaProgram("llama-server"), [...where, ...what, ...args]);
  try {
    const log = await waitFor(
      server,
      "llama-server",
      () => Promise.resolve(/fitting params to device memory/.test(server.log()) ? server.log() : undefined),
      { timeoutMs: 30_000 },
    );
    const total = /worst-case memory usage of mmproj is ([\d.]+) MiB/.exec(log)?.[1];
    const devices = [...log.matchAll(/adding ([\d.]+) MiB to fit_params_target for device (\S+)/g)];
    return {
      total: Number(total),
      devices: new Map(devices.map(([, size, name = ""]) => [name, Number(size)])),
    };
  } finally {
    await server.stop();
  }
}

async function forged(kind: ProjectorKind, sizes: ProjectorSizes): Promise<string> {
  const file = path.join(folder, `${files++}.gguf`);
  await writeGguf(file, projectorModel(kind, sizes), { weights: "sparse" });
  return file;
}

const siglip = { layers: 27, embedding: 1152, heads: 16, feedForward: 4304 };
const small = { layers: 12, embedding: 768, heads: 12, feedForward: 3072 };
const qwen2 = { layers: 32, embedding: 1280, heads: 16 };
const large = { layers: 24, embedding: 1024, heads: 16, feedForward: 4096 };

interface Case {
  readonly name: string;
  readonly kind: ProjectorKind;
  readonly sizes: ProjectorSizes;
  readonly args?: readonly string[];
}

/** Encoders of models people use, in their real sizes; no weights are read. */
const cases: readonly Case[] = [
  { name: "Gemma 3", kind: "gemma3", sizes: { ...siglip, image: 896, patch: 14, text: 3840 } },
  { name: "Gemma 4", kind: "gemma4v", sizes: { ...siglip, image: 224, patch: 16, text: 2816 } },
  {
    name: "Gemma 4 small",
    kind: "gemma4v",
    sizes: { ...small, layers: 4, image: 224, patch: 16, text: 1536, clamps: true },
  },
  { name: "SmolVLM", kind: "idefics3", sizes: { ...small, image: 512, patch: 16, text: 960, merge: 4 } },
  { name: "InternVL 3", kind: "internvl", sizes: { ...large, image: 448, patch: 14, text: 3584 } },
  { name: "LFM2-VL", kind: "lfm2", sizes: { ...siglip, image: 256, patch: 16, text: 2048 } },
  { name: "LLaVA", kind: "mlp", sizes: { ...large, image: 336, patch: 14, text: 4096 } },
  { name: "Pixtral", kind: "pixtral", sizes: { ...large, image: 1024, patch: 16, text: 5120 } },
  {
    name: "Mistral Small 3.1",
    kind: "pixtral",
    sizes: { ...large, image: 1540, patch: 14, text: 5120, merge: 2 },
  },
  {
    name: "Qwen2.5-VL",
    kind: "qwen2.5vl_merger",
    sizes: { ...qwen2, feedForward: 3420, image: 560, patch: 14, text: 3584 },
  },
  {
    name: "Qwen2-VL",
    kind: "qwen2vl_merger",
    sizes: { ...qwen2, feedForward: 5120, image: 560, patch: 14, text: 3584 },
  },
  { name: "Qwen3.6", kind: "qwen3vl_merger", sizes: { ...siglip, image: 768, patch: 16, text: 5120 } },
  {
    name: "Qwen3-VL",
    kind: "qwen3vl_merger",
    sizes: { ...siglip, image: 768, patch: 16, text: 4096, deepStack: [8, 16, 24] },
  },
  {
    name: "small images",
    kind: "qwen3vl_merger",
    sizes: { ...siglip, image: 768, patch: 16, text: 5120 },
    args: ["--image-max-tokens", "64"],
  },
  {
    name: "no flash attention",
    kind: "gemma3",
    sizes: { ...siglip, image: 448, patch: 14, text: 64 },
    args: ["-fa", "off"],
  },
];

describe("a multimodal projector", () => {
  it.each(cases)(
    "needs what llama-server says before it loads it: $name",
    async ({ kind, sizes, args = [] }) => {
      const file = await forged(kind, sizes);
      const projector = projectorOf(await readGgufHeader(file, never));
      expect(projector.notReplayed).toEqual([]);
      const limit = args[0] === "--image-max-tokens" ? Number(args[1]) : undefined;
      const { atLoad } = projectorNeed(projector, args[0] !== "-fa", limit);
      const { total } = await announced(file, args);
      expect(total).toBeGreaterThan(1);
      expect(Math.abs((projector.weightsBytes + atLoad.compute) / MiB - total)).toBeLessThanOrEqual(0.02);
    },
  );

  it("is on the first device, with what comes in on the host, as a server with a device says", async () => {
    const rpc = await startRpcServer();
    try {
      const file = await forged("gemma3", { ...siglip, layers: 3, image: 896, patch: 14, text: 64 });
      const { devices } = await announced(file, ["--rpc", rpc.endpoint]);
      const launch: LaunchOptions = { model, mmproj: file, parallel: 1, ctxSize: 512 };
      const header = modelOf(await readGgufHeader(model, never));
      const gpu = [{ name: "RPC0", freeBytes: 2 ** 34 }];
      const other = async (options: LaunchOptions): Promise<ReadonlyMap<string, number>> => {
        const setup = { devices: gpu, programs: "none" } as const;
        const budgets = await gatherBudgets(setup, { model: header, path: model }, options, undefined, never);
        const report = budgets.of(options);
        return new Map(report.devices.map(({ name, parts }) => [name, (parts?.other ?? 0) / MiB]));
      };
      const ours = await other(launch);
      expect(Math.abs((ours.get("RPC0") ?? 0) - (devices.get("RPC0") ?? NaN))).toBeLessThanOrEqual(0.02);
      expect(Math.abs((ours.get("Host") ?? 0) - (devices.get("CPU") ?? NaN))).toBeLessThanOrEqual(0.02);
      const { total } = await announced(file, ["--no-mmproj-offload"]);
      const onHost = await other({ ...launch, mmprojOffload: false });
      expect(onHost.get("RPC0")).toBe(0);
      expect(Math.abs((onHost.get("Host") ?? 0) - total)).toBeLessThanOrEqual(0.02);
    } finally {
      await rpc.stop();
    }
  });
});
