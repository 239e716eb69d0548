import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LaunchOptions } from "../../src/core/launch/launchOptions";
import { breakdown } from "../../src/core/memory/budget/breakdown";
import { fitPrintArguments } from "../../src/core/memory/budget/fitParams";
import { modelOf } from "../../src/core/model/modelOf";
import { fitPrint } from "../../src/node/machine/fitProbe";
import { readGgufHeader } from "../../src/node/gguf/ggufModelSource";
import { llamaProgram, runLlamaProgram } from "../support/llamaCpp";

const MiB = 2 ** 20;
const signal = new AbortController().signal;

/** One of each way to keep a past: plain, windows, latent, state, both, side by side. */
const architectures = [
  "starcoder2",
  "gemma3",
  "olmoe",
  "deepseek2",
  "mamba2",
  "lfm2",
  "falcon-h1",
  "granitehybrid",
  "phi3",
  "qwen3next",
];

const settings: readonly LaunchOptions[] = [
  { ctxSize: 32_768, parallel: 1, fit: false },
  { ctxSize: 65_536, parallel: 4, fit: false },
];

describe("toy models llama.cpp writes itself", () => {
  let folder: string;
  let program: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "llama-gauge-toys-"));
    program = await llamaProgram("llama-fit-params");
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(architectures)("%s: context and compute as the real llama-fit-params prints them", async (name) => {
    const target = path.join(folder, name);
    await mkdir(target);
    const made = await runLlamaProgram("test-llama-archs", ["-a", name, "-o", target]);
    expect(made.exitCode, made.stderr.slice(-500)).toBe(0);
    const files = (await readdir(target)).filter((file) => file.endsWith(".gguf"));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const model = modelOf(await readGgufHeader(path.join(target, file), signal));
      expect(model.rules).toBeDefined();
      for (const options of settings) {
        const printed = await fitPrint(program, fitPrintArguments(path.join(target, file), options), signal);
        const host = printed.find((row) => row.name === "Host");
        const [ours] = breakdown(model, options, [], { caller: "fitParams" }).rows;
        if (host === undefined || ours === undefined) throw new Error("a row for the host");
        const label = `${file} ${JSON.stringify(options)}`;
        // whole MiB are printed, cut off
        expect(Math.floor((ours.kv + ours.recurrent) / MiB), label).toBe(host.context);
        expect(Math.floor(ours.compute.low / MiB), label).toBeLessThanOrEqual(host.compute);
        expect(Math.ceil(ours.compute.high / MiB), label).toBeGreaterThanOrEqual(host.compute);
        expect(Math.abs(ours.compute.bytes / MiB - host.compute), label).toBeLessThanOrEqual(
          1 + 0.05 * host.compute,
        );
      }
    }
  });
});
