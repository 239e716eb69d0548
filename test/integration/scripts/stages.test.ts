import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { execa } from "execa";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isRunning } from "../../support/isRunning";
import { repository } from "../../support/repository";

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(os.tmpdir(), "lg-stages-"))));
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs stages given as programs; stages named `…Exit` are read by exit code, the others by the report they write. */
async function runStages(
  programs: Readonly<Record<string, string>>,
  limitMs = 20_000,
): Promise<{ exitCode: number | undefined; lines: string[] }> {
  const stages: Record<string, { program: string[]; result: string }> = {};
  for (const [name, text] of Object.entries(programs)) {
    const file = path.join(folder, `${name}.mjs`);
    await writeFile(file, text);
    stages[name] = { program: [file], result: name.endsWith("Exit") ? "exit" : "report" };
  }
  const runner = path.join(folder, "runner.mjs");
  const module = pathToFileURL(path.join(repository, "scripts/stages.mjs")).href;
  await writeFile(
    runner,
    `import { runStages } from ${JSON.stringify(module)};
     await runStages(${JSON.stringify(folder)}, ${JSON.stringify(stages)}, { limitMs: ${limitMs} });`,
  );
  const result = await execa(process.execPath, [runner], { reject: false, timeout: 50_000 });
  return { exitCode: result.exitCode, lines: result.stdout.split("\n") };
}

/** A program that reports this. */
const reporting = (counts: object): string =>
  `import { writeFileSync } from "node:fs";
   writeFileSync(process.argv[2].slice("--report=".length), ${JSON.stringify(JSON.stringify(counts))});`;
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
    const { exitCode, lines } = await runStages({ bad: program, next: good }, limitMs);
    expect(lines.at(-1)).toMatch(/^[36] passed, 1 failed, [1-3] skipped$/);
    expect(exitCode).toBe(1);
  });

  it("leave nothing running that a stage has started", async () => {
    const pidFile = path.join(folder, "pid");
    const { exitCode } = await runStages({
      careless: `import { spawn } from "node:child_process";
        const child = spawn("sleep", ["600"], { stdio: "ignore" });
        child.unref();
        writeFileSync(${JSON.stringify(pidFile)}, String(child.pid));
        ${good}`,
    });
    expect(exitCode).toBe(0);
    const pid = Number(await readFile(pidFile, "utf8"));
    // it was killed, and dies when the system comes to it
    await expect.poll(() => isRunning(pid)).toBe(false);
  });
});
