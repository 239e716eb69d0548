// Runs the stages of the test suite one after the other, whatever becomes of each, and adds up what they found.
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";

/**
 * @typedef {{ passed: number, failed: number, skipped: number, failures?: readonly string[] }} Counts
 * @typedef {{
 *   program: readonly string[],              what Node.js runs
 *   result: "exit" | "vitest" | "lastLine",  how its outcome is read: exit code, Vitest's report, last line of its output
 *   elsewhere?: boolean,                     it cannot run on this platform
 * }} Stage
 */

const say = (line) => console.log(line);
const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(0)} s`;
const describe = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`;

/**
 * Prints a table of all stages and, as the last line, the sums; sets the exit code. `before` are counts from earlier work.
 * @param {string} root folder the stages run in
 * @param {Readonly<Record<string, Stage>>} stages
 * @param {{ before?: Readonly<Record<string, { counts: Counts, seconds: string }>>, limitMs?: number }} [options]
 */
export async function runStages(root, stages, { before = {}, limitMs = 20 * 60_000 } = {}) {
  const start = Date.now();
  // everything temporary goes with it, also after an interruption; short, because the paths of sockets in it are limited
  const temporary = mkdtempSync(path.join(os.tmpdir(), "lg"));
  // a test acts as an ordinary user inside it
  chmodSync(temporary, 0o711);
  process.once("exit", () => {
    killRunning();
    rmSync(temporary, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
      killRunning();
      // browsers need a moment to see that nobody talks to them any more
      setTimeout(() => process.exit(130), 2000);
    });
  }
  const rows = Object.entries(before).map(([name, row]) => ({ name, ...row }));
  for (const [name, stage] of Object.entries(stages)) {
    const begin = Date.now();
    say(`\n=== ${name}`);
    const counts = await countsOf(root, stage, {
      temporary,
      report: path.join(temporary, `${name}.json`),
      limitMs,
    });
    rows.push({ name, counts, seconds: seconds(begin) });
  }
  say(`\n=== all stages, ${seconds(start)}`);
  for (const row of rows) say(`${row.name.padEnd(12)} ${row.seconds.padStart(6)}  ${describe(row.counts)}`);
  for (const { name, counts } of rows)
    for (const test of counts.failures ?? []) say(`failed in ${name}: ${test}`);
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const { counts } of rows) for (const key of Object.keys(total)) total[key] += counts[key];
  process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
  say(describe(total));
}

async function countsOf(root, stage, { temporary, report, limitMs }) {
  if (stage.elsewhere) {
    say("cannot run on this platform");
    return { passed: 0, failed: 0, skipped: 1 };
  }
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const args = [...stage.program, ...(stage.result === "vitest" ? reporters : [])];
  const { code, lastLine } = await runToEnd(root, args, { temporary, limitMs });
  const found = { exit: fromExit, vitest: () => fromVitest(report), lastLine: () => fromLine(lastLine) }[
    stage.result
  ](code);
  return code === 0 && found !== undefined && found.passed + found.failed > 0 ? found : broken(found);
}

/** A stage that failed without naming a failed test, or that ran none, has failed once. */
function broken({ passed = 0, failed = 0, skipped = 0, failures } = {}) {
  return { passed, failed: Math.max(failed, 1), skipped, failures };
}

function fromExit(code) {
  return code === 0 ? { passed: 1, failed: 0, skipped: 0 } : undefined;
}

function fromVitest(report) {
  try {
    const json = JSON.parse(readFileSync(report, "utf8"));
    return {
      passed: json.numPassedTests,
      failed: json.numFailedTests,
      skipped: json.numPendingTests + json.numTodoTests,
      failures: json.testResults.flatMap(failures),
    };
  } catch {
    return undefined;
  }
}

/** The failed tests of a file, by name; the file itself when it could not be run. */
function failures({ name, status, message, assertionResults }) {
  const failed = assertionResults.filter((test) => test.status === "failed");
  if (failed.length > 0) return failed.map((test) => test.fullName.trim());
  return status === "failed" ? [`${name}: ${message.split("\n")[0]}`] : [];
}

function fromLine(line) {
  const [, passed, failed, skipped] =
    /^(\d+) passed, (\d+) failed, (\d+) skipped$/.exec(line)?.map(Number) ?? [];
  return passed === undefined ? undefined : { passed, failed, skipped };
}

let killRunning = () => undefined;

/** Runs Node.js in a process group of its own, so that nothing of it is left when its time is up or this process ends. */
function runToEnd(root, args, { temporary, limitMs }) {
  return new Promise((resolve) => {
    let tail = "";
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, TMPDIR: temporary, ...(!process.stdout.isTTY && { NO_COLOR: "1" }) },
      stdio: ["ignore", "pipe", "inherit"],
      detached: true,
    });
    killRunning = () => {
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // nothing of it is left
      }
    };
    child.stdout.setEncoding("utf8").on("data", (text) => {
      process.stdout.write(text);
      tail = (tail + text).slice(-1000);
    });
    const limit = setTimeout(() => {
      console.error(`took longer than ${limitMs / 1000} s`);
      killRunning();
    }, limitMs);
    const ended = (code) => {
      clearTimeout(limit);
      killRunning();
      // what it wrote last may still be on its way, unless something that escaped keeps its output open
      const done = () => {
        clearTimeout(patience);
        resolve({ code, lastLine: tail.trimEnd().split("\n").at(-1) ?? "" });
      };
      const patience = setTimeout(done, 5000);
      child.once("close", done);
    };
    child.once("exit", ended).once("error", ended);
  });
}
