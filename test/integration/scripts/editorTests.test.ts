import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import { repository } from "../../support/repository";

async function runSuite(
  name: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ exitCode: number | undefined; output: string; lastLine: string; retried: unknown }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "lg-report-"));
  const report = path.join(folder, "report.json");
  const result = await execa(process.execPath, ["scripts/editorTests.mjs", "newest"], {
    cwd: repository,
    env: {
      ...env,
      LLAMA_GAUGE_TEST_SUITE: `test/fixtures/editorSuites/${name}`,
      LLAMA_GAUGE_VSCODE_TIMEOUT_S: "120",
      LLAMA_GAUGE_STAGE_REPORT: report,
    },
    reject: false,
    all: true,
    timeout: 280_000,
  });
  const { retried } = JSON.parse(await readFile(report, "utf8")) as { readonly retried?: unknown };
  await rm(folder, { recursive: true });
  const lastLine = result.stdout.split("\n").at(-1) ?? "";
  return { exitCode: result.exitCode, output: result.all, lastLine, retried };
}

// what becomes of these findings, and of runs without a test, is in test/unit/scripts/editorOutcome.test.ts
describe("a run in the extension host that must not look green", { timeout: 300_000 }, () => {
  it("has a test that fails twice, and one that fails at first: both run once more, in a fresh host", async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), "lg-mark-"));
    const run = await runSuite("failing", { LLAMA_GAUGE_TEST_MARK: path.join(folder, "mark") });
    await rm(folder, { recursive: true });
    expect(run.output).toMatch(
      /at first[^]*Once more, in a fresh VS Code: failing\.test\.js, unsteady\.test\.js\n/,
    );
    expect(run.output).toContain("deliberately");
    expect(run.lastLine).toBe("3 passed, 1 failed, 0 skipped");
    expect(run.retried).toEqual([expect.stringMatching(/^unsteady\.test\.js > /)]);
    expect(run.exitCode).toBe(1);
  });

  // VS Code prevents process.exit; the suite then never ends or never reports
  it("ends the process in a test", async () => {
    const { exitCode, lastLine } = await runSuite("exiting");
    expect(lastLine).toBe("0 passed, 1 failed, 0 skipped");
    expect(exitCode).toBe(1);
  });

  // the workbench reports this one as exit code 0
  it("crashes the extension host", async () => {
    const { exitCode, lastLine } = await runSuite("crashing");
    expect(lastLine).toBe("0 passed, 1 failed, 0 skipped");
    expect(exitCode).toBe(1);
  });
});
