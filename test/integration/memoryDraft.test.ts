import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { explainLog } from "../../src/core/logs/explainLog";
import { modelOf } from "../../src/core/model/modelOf";
import { gatherBudgets } from "../../src/node/estimateMemory";
import { readGgufHeader } from "../../src/node/ggufModelSource";
import { forgedModel } from "../support/forge/forgeModel";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";

const MiB = 2 ** 20;
const never = new AbortController().signal;
let folder: string;
let server: LlamaServerProcess;
let model: string;
let log: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-draft-"));
  log = path.join(folder, "server.log");
  model = await forgedModel();
  const args = ["-c", "8192", "-np", "2", "-md", model, "-ctkd", "q8_0", "-ctvd", "q8_0", "-lv", "4"];
  server = await startLlamaServer({ model, args: [...args, "--log-file", log] });
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

describe("a draft model", () => {
  it("is counted as the server's log has it: weights, cache and compute buffer of a second context", async () => {
    const { contexts } = explainLog(await readFile(log, "utf8")).facts;
    const [, second] = contexts;
    const sum = (parts: readonly { readonly bytes: number }[]): number =>
      parts.reduce((total, { bytes }) => total + bytes, 0);
    const launch = {
      model,
      ctxSize: 8192,
      parallel: 2,
      specDraftModel: model,
      specDraftTypeK: "q8_0",
      specDraftTypeV: "q8_0",
    };
    const main = modelOf(await readGgufHeader(model, never));
    const setup = { devices: [], programs: "none" } as const;
    const report = (await gatherBudgets(setup, { model: main, path: model }, launch, undefined, never)).of(
      launch,
    );
    const [host] = report.devices;
    const logged = sum(second?.kv ?? []) + sum(second?.compute ?? []);
    expect(logged).toBeGreaterThan(MiB);
    expect(Math.abs((host?.parts?.other ?? 0) - main.tensors.totalBytes - logged)).toBeLessThan(0.1 * MiB);
    expect(report.warnings.map(({ code }) => code)).not.toContain("draftModelNotCounted");
  });
});
