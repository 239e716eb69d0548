import { copyFile, mkdtemp, rm, stat, utimes, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { HistoryStore } from "../../../src/app/historyStore";
import { PresetCosts } from "../../../src/app/presetCosts";
import type { Settings } from "../../../src/app/settings";
import { speedFlags } from "../../../src/core/llamaBench/benchArguments";
import { formatText } from "../../../src/core/format";
import type { LaunchOptions } from "../../../src/core/launch/launchOptions";
import type { SectionCost } from "../../../src/core/preset/sectionCost";
import { forgeModel } from "../../support/forge/forgeModel";
import { sampleSettings } from "../../support/sampleSettings";

const { signal } = new AbortController();
const GiB = 2 ** 30;
let forge: string;
let folder: string;
let model: string;
let now: number;
let measured: number;
beforeAll(async () => {
  forge = await mkdtemp(path.join(os.tmpdir(), "preset-models-"));
  for (const contextLength of [4096, 8192]) {
    await forgeModel(path.join(forge, `${contextLength}.gguf`), { size: "tiny", contextLength }, "sparse");
  }
}, 60_000);
afterAll(() => rm(forge, { recursive: true, force: true }));
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "preset-costs-"));
  model = path.join(folder, "m.gguf");
  await write(4096);
  now = 1_000_000;
  measured = 0;
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** `time`: whole seconds, which every file system keeps. */
async function write(contextLength: 4096 | 8192, time = 1000): Promise<void> {
  await copyFile(path.join(forge, `${contextLength}.gguf`), model);
  await utimes(model, time, time);
}

function costs(settings: Partial<Settings> = {}, freeBytes = GiB): PresetCosts {
  return new PresetCosts(
    { cacheFolder: folder, settings: () => sampleSettings(settings) },
    {
      devices: () => {
        measured++;
        return Promise.resolve([{ name: "CPU", freeBytes, totalBytes: 2 * freeBytes, host: true }]);
      },
      now: () => now,
    },
  );
}

const ask = async (its: PresetCosts, options: LaunchOptions = {}): Promise<SectionCost> => {
  const all = { ctxSize: 1024, parallel: 1, ...options };
  const cost = await its.sectionCost({ section: "a", modelPath: model, options: all }, signal);
  if (cost === undefined) throw new Error("no cost");
  return cost;
};
const linesOf = ({ lines }: SectionCost): string => lines.map((line) => formatText(line)).join("\n");

describe("the facts of a model", () => {
  it("are read once, and again when the file has another time or size", async () => {
    const its = costs();
    expect(await its.modelFacts(model, signal)).toMatchObject({ trained: { contextLength: 4096 } });
    const { size } = await stat(model);
    await write(8192);
    expect((await stat(model)).size).toBe(size);
    expect(await its.modelFacts(model, signal)).toMatchObject({ trained: { contextLength: 4096 } });
    await write(8192, 2000);
    expect(await its.modelFacts(model, signal)).toMatchObject({ trained: { contextLength: 8192 } });
  });

  it("are none for a file that is not there or no model, until it is one", async () => {
    const its = costs();
    await rm(model);
    expect(await its.modelFacts(model, signal)).toBeUndefined();
    await writeFile(model, "GGUF\0\0");
    expect(await its.modelFacts(model, signal)).toBeUndefined();
    expect(await its.sectionCost({ section: "a", modelPath: model, options: {} }, signal)).toBeUndefined();
    await write(4096);
    expect(await its.modelFacts(model, signal)).toMatchObject({ trained: { contextLength: 4096 } });
  });

  it("are read for whoever asks after somebody who gave up", async () => {
    const its = costs();
    const gone = new AbortController();
    gone.abort();
    await its.modelFacts(model, gone.signal);
    expect(await its.modelFacts(model, signal)).toMatchObject({ trained: { contextLength: 4096 } });
  });
});

describe("the cost of a section", () => {
  it("measures free memory once a minute, however many sections ask", async () => {
    const its = costs();
    for (const ctxSize of [512, 1024, 2048]) await ask(its, { ctxSize });
    expect(measured).toBe(1);
    now += 59_000;
    await ask(its);
    expect(measured).toBe(1);
    now += 2000;
    await ask(its);
    expect(measured).toBe(2);
  });

  it("keeps as much free as the settings say", async () => {
    expect((await ask(costs({ marginBytes: 0 }))).fits).toBe(true);
    expect(formatText((await ask(costs({ marginBytes: GiB }))).verdict)).toMatch(/^Tight/);
  });

  it("says how long a full prompt takes once that was measured with the same options, and only there", async () => {
    const its = costs({ answerReserveTokens: 24 });
    expect(linesOf(await ask(its))).not.toContain("Full prompt");
    const options = { ctxSize: 1024, parallel: 1 };
    await new HistoryStore(folder).append({
      version: 1,
      id: "1",
      kind: "probe",
      at: now,
      tool: "llama-server",
      curve: {
        key: { model, build: "b11669", flags: speedFlags(options) },
        points: [0, 256, 512, 768].map((depth) => ({ depth, tokens: 256, seconds: 1 })),
        generation: [],
      },
    });
    // 1000 tokens at 256 a second
    expect(linesOf(await ask(its))).toMatch(/Full prompt of 1,000 tokens: ≈ 3\.9 s/);
    expect(linesOf(await ask(its, { cacheTypeK: "q8_0" }))).not.toContain("Full prompt");
  });
});
