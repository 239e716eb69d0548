import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatText } from "../../src/core/format";
import { ladderReport } from "../../src/core/ladder/report/ladderReport";
import type { LadderRecord, LadderStep } from "../../src/core/ladder/score/record";
import { parsePlan } from "../../src/core/ladder/plan/parsePlan";
import { HistoryStore } from "../../src/app/historyStore";
import { runLadder, type LadderRequest } from "../../src/app/ladderRun";
import { LadderServer } from "../../src/node/ladder/ladderServer";
import { LadderStore } from "../../src/node/ladder/ladderStore";
import { cliJson, runCli } from "../support/cli";
import { forgedModel } from "../support/forge/forgeModel";
import { forgedRecallModel } from "../support/forge/recallModel";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { repository } from "../support/repository";

const signal = new AbortController().signal;
const window = 1000;
let folder: string;
let recalling: LlamaServerProcess;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "ladder-"));
  recalling = await startLlamaServer({
    model: await forgedRecallModel({ window }),
    args: ["-c", "4096", "-np", "1", "-t", "1"],
  });
});
afterAll(async () => {
  await recalling.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Six canaries, so that a short prompt holds them. */
const planText = (rungs: string, repetitions: number, criteria: string): string => `
rungs: ${rungs}
baseTokens: 600
repetitions: ${repetitions}
canaries: { target: 6, other: 6 }
constraints: false
answerTokens: 160
criteria: ${criteria}
`;

function request(url: string, plan: string, more: Partial<LadderRequest> = {}): LadderRequest {
  return {
    url,
    plan: parsePlan(plan),
    planFolder: folder,
    tool: "test",
    now: Date.now,
    lookSeconds: 0.2,
    ...more,
  };
}

const correct = (step: LadderStep): number =>
  (step.canaries ?? []).filter(({ outcome }) => outcome === "correct").length;

describe("the ladder on a model that recalls what is less than 1000 tokens away", () => {
  it("passes inside the window: every canary at every place, positions as planned, each rung on the one before", async () => {
    const record = await runLadder(
      request(recalling.url, planText("[760, 960]", 2, "{ perRun: 6, pooled: 12 }")),
      signal,
    );
    const report = ladderReport(record);
    expect(report.results.filter(({ passed }) => passed === false)).toEqual([]);
    expect(report).toMatchObject({
      pass: true,
      complete: true,
      nextStep: { outcome: "passed", verifiedTokens: 960 },
    });
    expect(record.steps.map(({ tokens, run, purpose, mode }) => [tokens, run, purpose, mode])).toEqual([
      [600, 1, "base", "cold"],
      [760, 1, "curve", "grown"],
      [960, 1, "target", "grown"],
      [960, 2, "target", "cold"],
    ]);
    for (const step of record.steps) {
      expect(step.evaluatedTokens).toBe(step.tokens);
      expect(correct(step)).toBe(6);
      expect(step.cleanFormat).toBe(true);
      expect(step.memory?.serverPeakBytes ?? Infinity).toBeGreaterThan(20e6);
      expect(step.memory?.hostLeastFreeBytes).toBeGreaterThan(0);
      const depths = (step.canaries ?? []).map(({ depth }) => depth).sort((a, b) => a - b);
      expect(depths[0]).toBeGreaterThan(0.05);
      expect(new Set(depths.map((depth) => Math.round(depth * 20))).size).toBe(6);
    }
    expect(record.steps[1]?.cachedTokens).toBeGreaterThan(400);
  }, 240_000);

  it("fails beyond the window, names the beginning as what is forgotten and the length that holds", async () => {
    const record = await runLadder(
      request(recalling.url, planText("[960, 2400]", 1, "{ perRun: 6, pooled: 6 }")),
      signal,
    );
    const report = ladderReport(record);
    expect(report).toMatchObject({
      pass: false,
      nextStep: { outcome: "forgets", change: "length", verifiedTokens: 960 },
    });
    const target = record.steps.find(({ purpose }) => purpose === "target");
    for (const { outcome, position } of target?.canaries ?? []) {
      const away = 2400 - position;
      if (away < window * 0.95) expect(outcome).toBe("correct");
      // the question's answer itself adds to the distance
      if (away > window * 1.05) expect(outcome).toBe("missing");
    }
    expect(record.steps.at(-1)).toMatchObject({
      purpose: "confirmation",
      mode: "cold",
      evaluatedTokens: 2400,
    });
    expect(report.rungs.at(-1)?.byPosition.at(0)).toMatchObject({ correct: 0 });
    expect(report.rungs.at(-1)?.byPosition.at(-1)).toMatchObject({ correct: 1, of: 1 });
  }, 240_000);

  it("gets an id and a log-probability for every token it wrote, where they are asked for", async () => {
    const server = new LadderServer({ url: recalling.url });
    const prompt = await server.tokenize("cedar", { bos: true, special: false }, signal);
    const asked = { prompt, answerTokens: 8, useCache: false, seed: 1, timeoutSeconds: 60 };
    const answer = await server.answer({ ...asked, logProbabilities: true }, signal);
    expect(answer.ids).toHaveLength(answer.timings.generatedTokens);
    expect(answer.logProbabilities).toHaveLength(answer.ids.length);
    expect(Math.max(...answer.logProbabilities)).toBeLessThanOrEqual(0);
    const plain = await server.answer(asked, signal);
    expect(plain.ids).toEqual(answer.ids);
    expect(plain.logProbabilities).toEqual([]);
  });

  it("counts twins where a model cannot tell them apart", async () => {
    const confusing = await startLlamaServer({
      model: await forgedRecallModel({ window, confusesTwins: true }),
      args: ["-c", "2048", "-np", "1", "-t", "1"],
    });
    try {
      const record = await runLadder(
        request(confusing.url, planText("[900]", 1, "{ perRun: 6, pooled: 6 }")),
        signal,
      );
      // it cannot tell them apart at any length, so no length is tried
      expect(record.steps.map(({ purpose }) => purpose)).toEqual(["base"]);
      const outcomes = (record.steps[0]?.canaries ?? []).map(({ outcome }) => outcome);
      // the nearer of the two wins: the twin, but for the last canary, whose twin stands before it
      expect(outcomes.filter((outcome) => outcome === "twin")).toHaveLength(5);
      expect(outcomes.filter((outcome) => outcome === "correct")).toHaveLength(1);
    } finally {
      await confusing.stop();
    }
  }, 240_000);

  it("asks from llama-gauge, stores records and reports, and answers with the contract's exit codes", async () => {
    const plan = path.join(folder, "cli.ladder.yaml");
    await writeFile(plan, planText("[700]", 2, "{ perRun: 6, pooled: 12 }"));
    const out = path.join(folder, "cli");
    const measured = path.join(folder, "measured");
    const ladder = ["ladder", "--server", recalling.url, "--plan", plan, "--history", measured];
    const base = [...ladder, "--out", out];
    const document = await cliJson([...base, "--folder", path.join(repository, "docs")]);
    expect(document).toMatchObject({
      pass: true,
      criteria: { perRun: 6, pooled: 12 },
      nextStep: { outcome: "passed" },
    });
    expect((document as { rungs: unknown[] }).rungs).toHaveLength(2);
    expect(await readFile(path.join(out, "report.md"), "utf8")).toContain("700 tokens passed");
    expect(JSON.parse(await readFile(path.join(out, "report.json"), "utf8"))).toMatchObject({ pass: true });

    const { recommended } = document as { recommended: { use: string; sentence: string }[] };
    expect(recommended.find(({ use }) => use === "summary")?.sentence).toMatch(
      /^-c \d+: recall was verified to 700 tokens, less than the [\d,]+ required\.$/,
    );
    expect(await cliJson(["compare-ladders", out, out])).toMatchObject({
      // on a busy machine the speeds are not compared
      sentence: expect.stringMatching(/^The same setup twice: nothing changed/) as string,
      recall: { pairs: 18, onlyFirst: 0 },
      agreement: { answers: 3, same: 3, unit: "tokens" },
    });
    expect((await runCli(["compare-ladders", out, folder])).exitCode).toBe(2);

    await writeFile(plan, planText("[700]", 2, "{ perRun: 5, pooled: 12 }"));
    const changed = await runCli(base);
    expect(changed.exitCode).toBe(2);
    expect(changed.stderr).toMatch(/other criteria; with different criteria it is a new plan/);

    await writeFile(plan, planText("[700, 1900]", 1, "{ perRun: 6, pooled: 6 }"));
    // the first ladder's own curve says how long this one takes
    const forgetful = await runCli(ladder);
    expect(forgetful.stderr).toMatch(
      /^llama-gauge: \d+ runs up to 1,900 tokens: [\d,]+ tokens to read, about \d/,
    );
    const { records } = await new HistoryStore(measured).read(signal);
    expect(records.map(({ kind, ended, label }) => [kind, ended, label])).toEqual([
      ["ladder", "passed", "cli.ladder.yaml"],
      ["ladder", "forgets", "cli.ladder.yaml"],
    ]);
    expect(forgetful.stderr).not.toMatch(/UserError|bug/);
    expect(forgetful.exitCode, forgetful.stderr).toBe(1);
    await writeFile(plan, planText("[700, 5000]", 1, "{ perRun: 6, pooled: 6 }"));
    const tooLong = await runCli([...ladder, "--no-history"]);
    expect(tooLong.exitCode).toBe(2);
    expect(tooLong.stderr).toMatch(/Rung 5,000 .*one request may hold 4,096 tokens.*-c 5160/);
    expect(
      (await runCli(["ladder", "--server", "http://127.0.0.1:9", "--plan", plan, "--no-history"])).exitCode,
    ).toBe(3);

    const printed = await runCli(["ladder", "--server", recalling.url, "--print-plan"]);
    expect(parsePlan(printed.stdout).rungs.at(-1)).toBeLessThan(4096);
  }, 240_000);

  it("goes on where a kill -9 ended it, without repeating a rung", async () => {
    const plan = path.join(folder, "killed.ladder.yaml");
    await writeFile(plan, planText("[700, 900]", 1, "{ perRun: 0, pooled: 0 }"));
    const out = path.join(folder, "killed");
    const store = new LadderStore(out);
    await runCli(["--help"]); // builds it
    const args = [
      "dist/cli.js",
      "ladder",
      "--server",
      recalling.url,
      "--plan",
      plan,
      "--out",
      out,
      "--no-history",
    ];
    const child = spawn(process.execPath, args, { cwd: repository, stdio: "ignore" });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    await until(async () => ((await store.read(signal))?.steps.length ?? 0) >= 1);
    child.kill("SIGKILL");
    await ended;
    const before = (await store.read(signal))?.steps ?? [];
    expect(before.length).toBeLessThan(4);
    await until(async () => (await slots(recalling.url)).every((slot) => !slot.is_processing));
    const run = await runCli(args.slice(1));
    expect(run.exitCode).toBe(0);
    const after = await store.read(signal);
    expect(after?.steps.slice(0, before.length)).toEqual(before);
    expect(after?.steps).toHaveLength(4);
    expect(run.stderr).toContain(`${before.length} of 4 runs are already saved`);
  }, 240_000);
});

describe("the ladder on a server that fails", () => {
  const args = ["-c", "4096", "-np", "1", "-t", "1"];
  const plan = planText("[1600, 3000]", 1, "{ perRun: 0, pooled: 0 }").replace("600\nrep", "1200\nrep");

  it("stops at the rung at which the server dies, keeps what was done, and says what to look at", async () => {
    const server = await startLlamaServer({
      model: await forgedModel({ size: "slope", vocabulary: "qwen2_5" }),
      args: [...args, "-b", "256"],
    });
    const out = path.join(folder, "died");
    let killed = false;
    const record: LadderRecord = await runLadder(
      request(server.url, plan, {
        out,
        onProgress: ({ tokens }, { processed }) => {
          if (tokens < 3000 || processed < 1500 || killed) return;
          killed = true;
          process.kill(server.pid, "SIGKILL");
        },
      }),
      signal,
    );
    await server.stop();
    expect(record.steps).toHaveLength(3);
    expect(record.steps.at(-1)?.failure).toMatchObject({ kind: "serverDied" });
    expect(record.steps.at(-1)?.failure?.atTokens).toBeGreaterThanOrEqual(1500);
    expect((await new LadderStore(out).read(signal))?.steps).toHaveLength(3);
    expect(ladderReport(record)).toMatchObject({ pass: false, nextStep: { outcome: "serverFailed" } });
  });

  it("does not begin where the context is divided, and not on a busy server", async () => {
    const server = await startLlamaServer({
      model: await forgedModel({ vocabulary: "qwen2_5" }),
      args: ["-c", "8192", "-np", "4", "-no-kvu", "-t", "1", "--context-shift"],
    });
    try {
      await expect(runLadder(request(server.url, plan), signal)).rejects.toThrow(
        /Rung 3,000 .*one request may hold 2,048 tokens, and the server has 4 slots.*-np 1/,
      );
      const client = new AbortController();
      const busy = fetch(`${server.url}/completion`, {
        method: "POST",
        // it goes on until its client has gone, however fast the machine is
        body: JSON.stringify({ prompt: "a", n_predict: 1_000_000, ignore_eos: true, stream: true }),
        headers: { "content-type": "application/json" },
        signal: client.signal,
      })
        .then((response) => response.text())
        .catch(() => undefined);
      await until(async () => (await slots(server.url)).some((slot) => slot.is_processing));
      const short = plan.replace("1600, 3000", "1600");
      await expect(runLadder(request(server.url, short), signal)).rejects.toThrow(/busy: 1 of its slots/);
      client.abort();
      await busy;
    } finally {
      await server.stop();
    }
  });

  it("scores neither right nor wrong what a babbling model writes, and keeps no code rule", async () => {
    const server = await startLlamaServer({ model: await forgedModel({ vocabulary: "qwen2_5" }), args });
    try {
      const rules = plan.replace("constraints: false", "constraints: true");
      const record = await runLadder(request(server.url, rules), signal);
      const report = ladderReport(record);
      expect(report.pass).toBe(false);
      const target = record.steps.find(({ purpose }) => purpose === "target");
      expect(target?.evaluatedTokens).toBe(3000);
      expect(target?.invalid).toBe("answerCut");
      expect(formatText(report.nextStep.sentence)).toMatch(/has no recall result/);
    } finally {
      await server.stop();
    }
  });
});

async function slots(url: string): Promise<readonly { readonly is_processing: boolean }[]> {
  return (await (await fetch(`${url}/slots`)).json()) as readonly { readonly is_processing: boolean }[];
}

async function until(done: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await done())) {
    if (Date.now() > end) throw new Error("took too long");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
