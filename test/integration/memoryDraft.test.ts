import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LaunchOptions } from "../../src/core/launch/launchOptions";
import { explainLog } from "../../src/core/logs/explainLog";
import { modelOf } from "../../src/core/model/modelOf";
import { gatherBudgets } from "../../src/app/budgets";
import { readGgufHeader } from "../../src/node/gguf/ggufModelSource";
import { denseModel } from "../support/forge/denseModel";
import { draftModel } from "../support/forge/draftModel";
import { writeGguf } from "../support/forge/writeGguf";
import { startLlamaServer } from "../support/llamaCpp";
import { vocabulary } from "../support/vocabularies/vocabulary";

const MiB = 2 ** 20;
const never = new AbortController().signal;
const size = { layers: 4, embedding: 512, heads: 8, kvHeads: 2, headSize: 64, feedForward: 1024 };
let folder: string;
const files: Record<string, string> = {};

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-draft-"));
  const spec = await vocabulary("qwen2_5");
  const draft = { ...size, target: size.embedding };
  const models = {
    target: denseModel("qwen3", size, 32_768, spec),
    plain: denseModel("qwen3", { ...size, layers: 2 }, 32_768, spec),
    eagle: draftModel("eagle3", { ...draft, layers: 1 }, spec),
    eagleOwnTokens: draftModel("eagle3", { ...draft, layers: 1, ownTokens: 32_000 }, spec),
    dflash: draftModel("dflash", { ...draft, layers: 3 }, spec),
  };
  for (const [name, model] of Object.entries(models)) {
    files[name] = path.join(folder, `${name}.gguf`);
    await writeGguf(files[name], model, { weights: "sparse" });
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Draft {
  readonly name: string;
  readonly file: string;
  readonly options: LaunchOptions;
  readonly args: readonly string[];
}

const q8: LaunchOptions = { specDraftTypeK: "q8_0", specDraftTypeV: "q8_0" };
const drafts: readonly Draft[] = [
  { name: "of its own", file: "plain", options: q8, args: ["-ctkd", "q8_0", "-ctvd", "q8_0"] },
  {
    name: "of EAGLE-3",
    file: "eagle",
    options: { specType: ["draft-eagle3"] },
    args: ["--spec-type", "draft-eagle3"],
  },
  {
    name: "of EAGLE-3 with a vocabulary of its own",
    file: "eagleOwnTokens",
    options: { specType: ["draft-eagle3"] },
    args: ["--spec-type", "draft-eagle3"],
  },
  {
    name: "of DFlash, sampled on the CPU",
    file: "dflash",
    options: { specType: ["draft-dflash"], specDraftBackendSampling: false },
    args: ["--spec-type", "draft-dflash", "--no-spec-draft-backend-sampling"],
  },
];

describe("a draft model", () => {
  it.each(drafts)(
    "$name is counted as the server's log has it: weights, cache and compute buffer of a second context",
    async ({ name, file, options, args }) => {
      const [model = "", second = ""] = [files["target"], files[file]];
      const log = path.join(folder, `${name.length}.log`);
      const shape = ["-c", "8192", "-np", "2", "-ub", "256", "--no-warmup", "-fit", "off"];
      const said = ["-lv", "4", "--log-file", log];
      const server = await startLlamaServer({ model, args: [...shape, ...said, "-md", second, ...args] });
      await server.stop();
      const { contexts } = explainLog(await readFile(log, "utf8")).facts;
      const sum = (parts: readonly { readonly bytes: number }[] = []): number =>
        parts.reduce((total, { bytes }) => total + bytes, 0);
      const launch: LaunchOptions = {
        ...{ model, ctxSize: 8192, parallel: 2, ubatchSize: 256, specDraftModel: second },
        ...options,
      };
      const main = modelOf(await readGgufHeader(model, never));
      const draft = modelOf(await readGgufHeader(second, never));
      const setup = { devices: [], programs: "none" } as const;
      const budgets = await gatherBudgets(setup, { model: main, path: model }, launch, undefined, never);
      const report = budgets.of(launch);
      const [host] = report.devices;
      const logged = sum(contexts[1]?.kv) + sum(contexts[1]?.compute);
      expect(logged).toBeGreaterThan(MiB);
      const ours = (host?.parts?.other ?? 0) - draft.tensors.totalBytes;
      expect(Math.abs(ours - logged), `${ours / MiB} ${logged / MiB}`).toBeLessThan(0.1 * MiB);
      expect(report.warnings.map(({ code }) => code)).not.toContain("draftModelNotCounted");
    },
  );
});
