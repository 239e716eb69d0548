import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseArguments } from "../../src/core/launch/commandLine";
import { lint } from "../../src/core/preset/lintPreset";
import { modelArguments, readPreset } from "../../src/core/preset/presetModels";
import { agreementTable, type Judged } from "../support/agreement";
import { startProgram, waitFor, type RunningProgram } from "../support/childProcess";
import { freePort } from "../support/freePort";
import { llamaProgram, runLlamaProgram } from "../support/llamaCpp";
import { lineCases, presetCases, type PresetCase } from "./support/presetCases";

let folder: string;
let program: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "presets-"));
  program = await llamaProgram("llama-server");
});

afterAll(() => rm(folder, { recursive: true, force: true }));

interface RouterModel {
  readonly id: string;
  readonly status: { readonly args: readonly string[] };
}

/** What a router says about a preset: that it cannot start with it, or the models and their command lines. */
async function askRouter(text: string): Promise<{ models?: readonly RouterModel[]; log: string }> {
  const file = path.join(folder, "models.ini");
  await writeFile(file, text);
  const port = await freePort();
  const args = ["--models-preset", file, "--port", String(port), "--no-models-autoload", "--offline"];
  const router = startProgram(program, args, { cwd: folder });
  try {
    const models = await waitFor(router, "the router", () => listModels(port, router), { timeoutMs: 20_000 });
    return models === "ended" ? { log: router.log() } : { models, log: router.log() };
  } finally {
    await router.stop();
  }
}

async function listModels(
  port: number,
  router: RunningProgram,
): Promise<readonly RouterModel[] | "ended" | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/models`, { signal: AbortSignal.timeout(2000) });
    const body = (await response.json()) as { data?: readonly RouterModel[] };
    return body.data;
  } catch {
    return router.ended() === undefined ? undefined : "ended";
  }
}

/** Does the model's own server take the arguments the router would start it with? */
async function takesArguments(model: RouterModel): Promise<boolean> {
  // an argument ends at its first NUL when a program is started
  const args = model.status.args.slice(1).map((word) => word.split("\0", 1)[0] ?? "");
  const { exitCode } = await runLlamaProgram("llama-server", [...args, "--version"], { timeoutMs: 20_000 });
  return exitCode === 0;
}

async function isRejected({ text }: PresetCase): Promise<{ rejected: boolean; why: string }> {
  const { models, log } = await askRouter(text);
  if (models === undefined) return { rejected: true, why: log.slice(-300) };
  for (const model of models) {
    if (!(await takesArguments(model))) return { rejected: true, why: model.status.args.join(" ") };
  }
  return { rejected: false, why: models.map(({ id }) => id).join() };
}

describe("model presets and the real router", () => {
  it("is tried with more than 200 presets and lines", () => {
    expect(presetCases.length + lineCases.length).toBeGreaterThan(200);
  });

  it("agrees with it about what is an error in a file", async () => {
    const wrong: unknown[] = [];
    const judged: Judged[] = [];
    for (const preset of presetCases) {
      const errors = lint(preset.text).filter(({ severity }) => severity === "error");
      const { rejected, why } = await isRejected(preset);
      judged.push({ rejected, flagged: errors.length > 0 });
      if (rejected === errors.length > 0) continue;
      wrong.push({ name: preset.name, text: preset.text.slice(0, 200), rejected, why, errors });
    }
    console.log(agreementTable("Presets", judged));
    expect(wrong).toEqual([]);
  }, 300_000);

  it("agrees with it about what is an error in a value", async () => {
    const text = lineCases.map((line, index) => `[m${index}]\nm = x.gguf\n${line}\n`).join("");
    const flagged = new Set(
      lint(text)
        .filter(({ severity }) => severity === "error")
        .map(({ line }) => Math.floor((line - 1) / 3)),
    );
    const { models = [] } = await askRouter(text);
    expect(models.length).toBe(lineCases.length);
    const wrong: unknown[] = [];
    const judged: Judged[] = [];
    for (const model of models) {
      const index = Number(model.id.slice(1));
      const rejected = !(await takesArguments(model));
      judged.push({ rejected, flagged: flagged.has(index) });
      if (rejected !== flagged.has(index)) wrong.push({ line: lineCases[index], rejected });
    }
    console.log(agreementTable("Lines of presets", judged));
    expect(wrong).toEqual([]);
  }, 120_000);

  it("reads the same options from a section as the router gives to the model's server", async () => {
    const text = [
      ...["version = 1", "[*]", "c = 4096", "ngl = 3", "no-kv-offload = on", "fa = on", "cpu-moe = off"],
      ...["[a]", "m = a.gguf", "ctx-size = 8192", "ctk = q8_0 ; K only", "np = 2", "host = 10.0.0.1"],
      ...["[b:q4]", "LLAMA_ARG_MODEL = b.gguf", "c = 1", "ctx-size = 2", "c = 3", "kvu = maybe", "ts = 3,1"],
      ...["[a]", "hf = owner/repo:Q8_0", "ub = 64", "jinja = off", "mmproj = p.gguf", "swa-full = 1"],
    ].join("\n");
    const { models = [] } = await askRouter(text);
    const ours = readPreset(text).models;
    expect(models.map(({ id }) => id)).toEqual(["a", "b:Q4"]);
    const theirs = models.map(({ status }) => parseArguments(status.args.slice(1)));
    const added = { alias: undefined, host: undefined, port: undefined };
    expect(ours.map(({ options }) => ({ ...options, ...added }))).toEqual(
      theirs.map(({ options }) => ({ ...options, ...added })),
    );
    expect(parseArguments(modelArguments(ours[1] ?? expect.fail()), {}).options).toEqual(ours[1]?.options);
  });
});
