import { randomInt } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { execa } from "execa";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { repository } from "../../support/repository";

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(os.tmpdir(), "lg-stages-"))));
afterEach(() => rm(folder, { recursive: true, force: true }));

/**
 * Runs stages given as programs; stages named `…Exit` are read by exit code, the others by the report they write, and those
 * named `…Alone` run beside no other.
 */
async function runStages(
  programs: Readonly<Record<string, string>>,
  { limitMs = 20_000, atOnce = 2, slow = "" }: { limitMs?: number; atOnce?: number; slow?: string } = {},
): Promise<{ exitCode: number | undefined; lines: string[] }> {
  const stages: Record<string, { program: string[]; result: string; alone: boolean }> = {};
  for (const [name, text] of Object.entries(programs)) {
    const file = path.join(folder, `${name}.mjs`);
    await writeFile(file, text);
    const result = name.endsWith("Exit") ? "exit" : "report";
    stages[name] = { program: [file], result, alone: name.endsWith("Alone") };
  }
  const runner = path.join(folder, "runner.mjs");
  const module = pathToFileURL(path.join(repository, "scripts/stages.mjs")).href;
  await writeFile(
    runner,
    `import { runStages } from ${JSON.stringify(module)};
     // what a slow one needs is there when all others have begun
     const log = console.log;
     const ready = (name) => new Promise((resolve) => {
       if (name !== ${JSON.stringify(slow)}) resolve();
       else console.log = (line) => { log(line); if (line === "=== last") resolve(); };
     });
     await runStages(${JSON.stringify(folder)}, ${JSON.stringify(stages)}, { ready, ...${JSON.stringify({ limitMs, atOnce })} });`,
  );
  const result = await execa(process.execPath, [runner], { reject: false, timeout: 50_000 });
  return { exitCode: result.exitCode, lines: result.stdout.split("\n") };
}

/** A program that reports this. */
const reporting = (counts: object): string =>
  `import { writeFileSync } from "node:fs";
   writeFileSync(process.env.LLAMA_GAUGE_STAGE_REPORT, ${JSON.stringify(JSON.stringify(counts))});`;
const good = reporting({ passed: 3, failed: 0, skipped: 1 });

describe("the stages of npm test", () => {
  it("add up, and the sums are the last line", async () => {
    const { exitCode, lines } = await runStages({ one: good, twoExit: "process.exitCode = 0;" });
    expect(lines.at(-1)).toBe("4 passed, 0 failed, 1 skipped");
    expect(exitCode).toBe(0);
  });

  it("say once more at the end what failed, and how it began", async () => {
    const message = ["Error: 5 is not 7", ...Array.from({ length: 50 }, (_, i) => `at line ${i}`)].join("\n");
    const failing = reporting({ passed: 1, failed: 1, skipped: 0, failures: [{ test: "adds up", message }] });
    const { exitCode, lines } = await runStages({ sums: failing, next: good });
    const end = lines.slice(lines.findIndex((line) => line.startsWith("=== all stages")));
    expect(end.slice(1, 4)).toEqual(["failed in sums: adds up", "    Error: 5 is not 7", "    at line 0"]);
    expect(end.length).toBeLessThan(25);
    expect(end.at(-1)).toBe("4 passed, 1 failed, 1 skipped");
    expect(exitCode).toBe(1);
  });

  it.each([
    ["crashes", 'process.kill(process.pid, "SIGKILL");'],
    ["says all is well and exits with 1", `${good} process.exitCode = 1;`],
    ["never reports", "process.exitCode = 0;"],
    ["runs no test", reporting({ passed: 0, failed: 0, skipped: 2 })],
    ["never ends", "setInterval(() => undefined, 1000);"],
    ["cannot be read", "const"],
  ])("count a stage that %s as failed, and go on with the next", async (what, program) => {
    const limitMs = what === "never ends" ? 4000 : 20_000;
    const { exitCode, lines } = await runStages({ bad: program, next: good }, { limitMs });
    expect(lines.at(-1)).toMatch(/^[36] passed, 1 failed, [1-3] skipped$/);
    expect(exitCode).toBe(1);
  });

  it("leave nothing running that a stage has started", async () => {
    // in a namespace of its own its process has another id
    const time = `600.${randomInt(1e9)}`;
    const { exitCode } = await runStages({
      careless: `import { execFileSync, spawn } from "node:child_process";
        spawn("sleep", ["${time}"], { stdio: "ignore" }).unref();
        while (!execFileSync("ps", ["-axo", "args"], { encoding: "utf8" }).includes("sleep ${time}")) ;
        ${good}`,
    });
    expect(exitCode).toBe(0);
    // it was killed, and dies when the system comes to it
    await expect
      .poll(async () => (await execa("ps", ["-axo", "args"])).stdout)
      .not.toContain(`sleep ${time}`);
  });

  it("say what passed only when it was tried again, and how often that happened", async () => {
    const shaky = reporting({
      passed: 3,
      failed: 0,
      skipped: 0,
      retried: ["panel > draws", "panel > saves"],
    });
    const { exitCode, lines } = await runStages({ ui: shaky, next: good });
    expect(lines).toContain("passed only when tried again in ui: panel > saves");
    expect(lines).toContainEqual(
      expect.stringMatching(/^ui +\d+ s .* 3 passed, 0 failed, 0 skipped, 2 retried$/),
    );
    expect(lines.at(-1)).toBe("6 passed, 0 failed, 1 skipped");
    expect(exitCode).toBe(0);
  });

  it("say what of the processors each has used, with all it has started", async () => {
    const computing = `import { execFileSync } from "node:child_process";
      execFileSync(process.execPath, ["-e", "for (let t; (t = process.cpuUsage()).user + t.system < 1.6e6; ) for (let i = 0; i < 1e7; i++);"]);
      ${good}`;
    const { lines } = await runStages({ computing, idle: good });
    const used = (name: string): string | undefined =>
      lines.findLast((line) => line.startsWith(name))?.match(/ (\d+) s of CPU/)?.[1];
    expect(Number(used("computing"))).toBeGreaterThanOrEqual(2);
    expect(Number(used("idle"))).toBeLessThan(2);
  });

  it("start as soon as there is what they need, in their order", async () => {
    const { lines } = await runStages({ waits: good, next: good, last: good }, { atOnce: 1, slow: "waits" });
    expect(lines.filter((line) => /^=== \w+$/.test(line))).toEqual(["=== next", "=== last", "=== waits"]);
  });

  it("run beside each other where they cannot see each other, except for those that measure time", async () => {
    const marks = path.join(folder, "marks");
    // it ends when all others it may meet have begun
    const meeting = (name: string, others: number): string => `
      import { appendFileSync, readFileSync } from "node:fs";
      appendFileSync(${JSON.stringify(marks)}, "${name} begins\\n");
      const begun = () => readFileSync(${JSON.stringify(marks)}, "utf8").match(/begins/g).length;
      for (const end = Date.now() + 10_000; begun() < ${others} && Date.now() < end; )
        await new Promise((resolve) => setTimeout(resolve, 20));
      appendFileSync(${JSON.stringify(marks)}, "${name} ends\\n");
      ${good}`;
    const { lines } = await runStages({
      clockAlone: meeting("clock", 1),
      left: meeting("left", 2),
      right: meeting("right", 2),
    });
    const order = (await readFile(marks, "utf8")).trim().split("\n");
    expect(order.slice(-2)).toEqual(["clock begins", "clock ends"]);
    const seen = lines.some((line) => line.startsWith("The tests see this machine"));
    expect(order.slice(0, 2).toSorted()).toEqual(
      seen ? ["left begins", "left ends"] : ["left begins", "right begins"],
    );
  });
});
