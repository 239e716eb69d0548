import { once } from "node:events";
import { chmod, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BenchPlan } from "../../src/core/bench/probePlan";
import { formatText } from "../../src/core/format";
import type { DepthCurve } from "../../src/core/prefill/depthCurve";
import { predict } from "../../src/core/prefill/predict";
import { sampleAgreement } from "../../src/app/measuring/sampleAgreement";
import { runLlamaBench } from "../../src/node/llamaBench/llamaBench";
import type { BenchCall } from "../../src/node/llamaBench/llamaBench";
import { runComparison } from "../../src/node/llamaBench/llamaBenchCompare";
import { runBenchProbe } from "../../src/node/llamaBench/llamaBenchProbe";
import { bundledProgram } from "../support/bundled";
import { forgedModel } from "../support/forge/forgeModel";
import { isRunning } from "../support/isRunning";
import { llamaProgram } from "../support/llamaCpp";

const signal = new AbortController().signal;
let program = "";
let model = "";
let folder = "";
let server = "";
let tiny = "";

beforeAll(async () => {
  program = await llamaProgram("llama-bench");
  model = await forgedModel({ size: "slope", vocabulary: "qwen2_5" });
  server = await llamaProgram("llama-server");
  tiny = await forgedModel();
  folder = await mkdtemp(path.join(os.tmpdir(), "bench-"));
});
afterAll(() => rm(folder, { recursive: true }));

function call(overrides: Partial<BenchCall> = {}): BenchCall {
  return {
    program,
    arguments: ["-m", model, "-t", "1"],
    depths: [0, 512],
    promptTokens: [128],
    generatedTokens: 4,
    repetitions: 2,
    timeoutSeconds: 60,
    ...overrides,
  };
}

/** A program that behaves as a broken llama-bench would. */
async function script(lines: readonly string[]): Promise<string> {
  const file = path.join(folder, `bench-${lines.join("").length}.sh`);
  await writeFile(file, `#!/bin/sh\n${lines.join("\n")}\n`);
  await chmod(file, 0o755);
  return file;
}

const row = JSON.stringify({
  model_filename: "m",
  n_prompt: 128,
  n_gen: 0,
  n_depth: 0,
  avg_ns: 1e9,
  samples_ns: [1e9],
});

describe("one run of llama-bench", () => {
  it("gives every test and the times of filling the cache", async () => {
    const run = await runLlamaBench(call(), signal);
    expect(run.failure).toBeUndefined();
    expect(run.rows.map((r) => [r.depth, r.promptTokens, r.generatedTokens, r.samples.length])).toEqual([
      [0, 128, 0, 2],
      [0, 0, 4, 2],
      [512, 128, 0, 2],
      [512, 0, 4, 2],
    ]);
    expect(run.fills).toMatchObject([{ depth: 0, tokens: 512 }]);
    expect(run.loadSeconds).toBeGreaterThan(0);
    expect(run.argv.slice(-2)).toEqual(["jsonl", "--progress"]);
  });

  it("keeps the finished tests when it is killed from outside", async () => {
    let pid = 0;
    const run = await runLlamaBench(
      call({
        depths: [0, 4096],
        onStart: (started) => (pid = started),
        onStep: ({ kind }) => {
          if (kind === "depth") process.kill(pid, "SIGKILL");
        },
      }),
      signal,
    );
    expect(run.rows).toHaveLength(2);
    expect(run.failure?.message).toContain("SIGKILL");
  });

  it("kills the program when the caller gives up, and says what it had", async () => {
    const cancel = new AbortController();
    let pid = 0;
    const run = await runLlamaBench(
      call({
        depths: [0, 4096],
        onStart: (started) => (pid = started),
        onStep: ({ kind }) => {
          if (kind === "depth") cancel.abort();
        },
      }),
      cancel.signal,
    );
    expect(run).toMatchObject({ cancelled: true });
    expect(run.rows).toHaveLength(2);
    expect(isRunning(pid)).toBe(false);
  });

  it("leaves no process behind when its own host is killed", async () => {
    const host = await bundledProgram("runBench");
    const running = execa(process.execPath, [host.file, program, model], { reject: false, buffer: false });
    const [first] = (await once(running.stdout, "data")) as [Buffer];
    const pid = Number(first.toString());
    expect(isRunning(pid)).toBe(true);
    running.kill("SIGKILL");
    await running;
    await expect.poll(() => isRunning(pid), { timeout: 20_000 }).toBe(false);
    await host.remove();
  });

  it.each([
    ["is missing", () => Promise.resolve("/nowhere/llama-bench"), "notFound", 0],
    [
      "is too old for -d",
      () => script(["echo 'error: invalid parameter for argument: -d' >&2", "exit 1"]),
      "unsupported",
      0,
    ],
    [
      "aborts in a kernel",
      () => script([`echo '${row}'`, "echo 'ggml.c:1: GGML_ASSERT(x) failed' >&2", "kill -ABRT $$"]),
      "outsideFailed",
      1,
    ],
    ["hangs", () => script([`echo '${row}'`, "sleep 1000"]), "timeout", 1],
    [
      "runs out of memory",
      () =>
        script([
          "echo 'ggml_backend_cuda_buffer_type_alloc_buffer: unable to allocate CUDA0 buffer' >&2",
          "exit 1",
        ]),
      "outsideFailed",
      0,
    ],
  ])("says so when it %s", async (_, broken, reason, rows) => {
    const timeoutSeconds = reason === "timeout" ? 3 : 30;
    const run = await runLlamaBench(call({ program: await broken(), timeoutSeconds }), signal);
    expect(run.failure?.reason).toBe(reason);
    expect(run.rows).toHaveLength(rows);
  });

  it("says which device is not there", async () => {
    const run = await runLlamaBench(call({ arguments: ["-m", tiny, "-dev", "CUDA9"] }), signal);
    expect(run.failure?.reason).toBe("invalidInput");
    expect(run.failure?.message).toContain("no device CUDA9");
  });

  it("says what llama.cpp says about a model that cannot be read", async () => {
    const run = await runLlamaBench(call({ arguments: ["-m", path.join(folder, "none.gguf")] }), signal);
    expect(run.failure?.message).toContain("failed to load model");
  });
});

describe("the probe with llama-bench", () => {
  it("prices the depths first and gives a curve that predicts", async () => {
    const plans: BenchPlan[] = [];
    const report = await runBenchProbe(
      {
        program,
        options: { model, threads: 1, ubatchSize: 256, ctxSize: 8192 },
        budgetSeconds: 300,
        depths: [0, 1024, 2048],
        onPlan: (plan) => plans.push(plan),
      },
      signal,
    );
    expect(report.ended).toBe("finished");
    expect(plans[0]?.depths).toEqual([0, 1024, 2048]);
    expect(report.plannedTokens).toBe(plans[0]?.tokens);
    expect(new Set(report.curve.points.map((p) => p.depth))).toEqual(new Set([0, 1024, 2048]));
    expect(report.curve.generation.length).toBeGreaterThanOrEqual(3);
    expect(report.curve.key).toMatchObject({ model, flags: "-ub 256 -t 1", backend: "CPU" });
    expect(report.drift).toBeDefined();
    const prediction = predict(report.curve, { tokens: 4096 });
    expect(prediction.known && prediction.generationTokensPerSecond).toBeGreaterThan(0);
  });

  it("refuses depths that are too dear before it measures them, and ends with its time", async () => {
    const options = { model, threads: 1, ubatchSize: 256, ctxSize: 32_768 };
    const measured: number[] = [];
    const onMeasured = ({ points }: DepthCurve): void => void measured.push(points.length);
    // minutes on an idle machine
    const dear = runBenchProbe(
      { program, options, budgetSeconds: 15, depths: [0, 30_000], onMeasured },
      signal,
    );
    await expect(dear).rejects.toThrow(/would take about .* Allow [\d,]+ s/);
    expect(measured).toEqual([]);
    const budgetSeconds = 30;
    const plans: BenchPlan[] = [];
    const report = await runBenchProbe(
      { program, options, budgetSeconds, onPlan: (plan) => plans.push(plan) },
      signal,
    );
    expect(["finished", "budget"]).toContain(report.ended);
    expect(plans[0]?.seconds).toBeLessThan(budgetSeconds);
    // the program is ended at 1.15 times the budget; a second for a busy machine
    expect(report.seconds).toBeLessThan(1.2 * budgetSeconds + 1);
    expect(report.curve.points.length).toBeGreaterThan(0);
  });

  it("does not load a second copy of a model that does not fit beside what runs", async () => {
    const huge = path.join(folder, "huge.gguf");
    await writeFile(huge, "GGUF");
    // more than any machine has; it takes no room on the disk
    await truncate(huge, 2 ** 42);
    const probe = runBenchProbe({ program, options: { model: huge } }, signal);
    await expect(probe).rejects.toMatchObject({ reason: "tooLarge" });
    await expect(probe).rejects.toThrow(/Probe the running server/);
  });
});

describe("a comparison with llama-bench", () => {
  it("runs baseline, other and baseline again in one process and answers for both speeds", async () => {
    const report = await runComparison(
      {
        program,
        options: { model: tiny, threads: 1, cacheTypeK: "f16" },
        choice: { baseline: { cacheTypeK: "f16" }, others: [{ cacheTypeK: "q8_0" }], depths: [256, 512] },
        repetitions: 2,
        timeoutSeconds: 60,
      },
      signal,
    );
    expect(report.runs[0]?.failure).toBeUndefined();
    expect(report.arms.prefill.map((arm) => arm.settings["cacheTypeK"])).toEqual(["f16", "q8_0", "f16"]);
    expect(report.arms.generation.map((arm) => arm.costs.map((c) => c.depth))).toEqual([
      [0, 256, 512],
      [0, 256, 512],
      [0, 256, 512],
    ]);
    // On a machine that others use the answer must be that it cannot be judged, with their names.
    if (report.monitor.verdict === "contaminated") {
      const [first] = report.results;
      expect(first?.prefill.kind).toBe("cannotJudge");
      expect(first && formatText(first.prefill.sentence)).toMatch(/used|appeared|swap/);
    }
  });

  it("runs K alone, V alone and both, each in a process of its own", async () => {
    const other = { cacheTypeK: "q8_0", cacheTypeV: "q8_0" };
    const report = await runComparison(
      {
        program,
        options: { model: tiny, threads: 1, flashAttn: "on" },
        choice: {
          baseline: { cacheTypeK: "f16", cacheTypeV: "f16" },
          others: [{ cacheTypeK: "q8_0" }, { cacheTypeV: "q8_0" }, other],
          depths: [0],
        },
        repetitions: 1,
        timeoutSeconds: 120,
      },
      signal,
    );
    const types = report.arms.generation.map(({ settings }) => Object.values(settings).join(" "));
    expect(types).toEqual(["f16 f16", "q8_0 f16", "f16 q8_0", "q8_0 q8_0", "f16 f16"]);
    expect(report.results.map(({ option, values }) => `${option}: ${values.join(" / ")}`)).toEqual([
      "-ctk: f16 / q8_0",
      "-ctv: f16 / q8_0",
      "-ctk -ctv: f16 f16 / q8_0 q8_0",
    ]);
  });
});

describe("a sample of answers", () => {
  it("agrees with itself to the last token, tells another cache type apart only by tokens, and leaves no server", async () => {
    const before = await servers();
    const sample = (values: readonly [string, string]) =>
      sampleAgreement(
        {
          program: server,
          options: { model: tiny, threads: 1 },
          baseline: { cacheTypeK: values[0] },
          other: { cacheTypeK: values[1] },
          timeoutSeconds: 60,
        },
        signal,
      );
    const same = await sample(["f16", "f16"]);
    // four prompts with 24 tokens each
    expect(same).toEqual({ agreed: 96, of: 96 });
    const other = await sample(["f16", "q4_0"]);
    expect(other.of).toBeGreaterThanOrEqual(4);
    expect(other.agreed).toBeLessThanOrEqual(other.of);
    expect(await servers()).toEqual(before);
  });

  it("says what llama-server says about a value it does not know", async () => {
    const sample = sampleAgreement(
      {
        program: server,
        options: { model: tiny, threads: 1 },
        baseline: { cacheTypeK: "f99" },
        other: { cacheTypeK: "f16" },
        timeoutSeconds: 60,
      },
      signal,
    );
    await expect(sample).rejects.toThrow(/-ctk f99 returned no answers to compare: .*f99/);
  });
});

/** Our own children that are llama-servers. */
async function servers(): Promise<readonly string[]> {
  const { stdout } = await execa("ps", ["-o", "pid,args", "--ppid", String(process.pid)], { reject: false });
  return stdout.split("\n").filter((line) => line.includes("llama-server"));
}
