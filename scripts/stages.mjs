// Runs the stages of the test suite one after the other, whatever becomes of each, and adds up what they found.
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";

/**
 * @typedef {{ test: string, message: string }} Failure
 * @typedef {{ passed: number, failed: number, skipped: number, failures?: readonly Failure[] }} Counts
 * @typedef {{
 *   program: readonly string[],            what Node.js runs
 *   result: "exit" | "vitest" | "report",  how its outcome is read: exit code, Vitest's report, the Counts it writes to the
 *                                          file that `--report=` names
 *   elsewhere?: boolean,                   it cannot run on this platform
 * }} Stage
 */

const say = (line) => console.log(line);
const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(0)} s`;
const describe = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`;

/**
 * Prints what failed, a table of all stages and, as the last line, the sums; sets the exit code. `before` are counts from
 * earlier work.
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
  // once more, at the end: a log is often kept by its last part only
  for (const { name, counts } of rows)
    for (const failure of counts.failures ?? []) say(inShort(name, failure));
  for (const row of rows) say(`${row.name.padEnd(12)} ${row.seconds.padStart(6)}  ${describe(row.counts)}`);
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const { counts } of rows) for (const key of Object.keys(total)) total[key] += counts[key];
  process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
  say(describe(total));
}

/** A failure with what it says first. */
function inShort(stage, { test, message }) {
  const lines = message.split("\n").slice(0, 15);
  return [`failed in ${stage}: ${test}`, ...lines.map((line) => `    ${line.slice(0, 300)}`)].join("\n");
}

async function countsOf(root, stage, { temporary, report, limitMs }) {
  if (stage.elsewhere) {
    say("cannot run on this platform");
    return { passed: 0, failed: 0, skipped: 1 };
  }
  const reporting = {
    exit: [],
    vitest: ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
    report: [`--report=${report}`],
  };
  const code = await runToEnd(root, [...stage.program, ...reporting[stage.result]], { temporary, limitMs });
  const found = {
    exit: fromExit,
    vitest: () => fromVitest(readJson(report)),
    report: () => readJson(report),
  }[stage.result](code);
  return code === 0 && found !== undefined && found.passed + found.failed > 0 ? found : broken(found);
}

/** A stage that failed without naming a failed test, or that ran none, has failed once. */
function broken({ passed = 0, failed = 0, skipped = 0, failures } = {}) {
  return { passed, failed: Math.max(failed, 1), skipped, failures };
}

function fromExit(code) {
  return code === 0 ? { passed: 1, failed: 0, skipped: 0 } : undefined;
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function fromVitest(json) {
  return (
    json && {
      passed: json.numPassedTests,
      failed: json.numFailedTests,
      skipped: json.numPendingTests + json.numTodoTests,
      failures: json.testResults.flatMap(failures),
    }
  );
}

/** The failed tests of a file; the file itself when it could not be run. */
function failures({ name, status, message, assertionResults }) {
  const failed = assertionResults.filter((test) => test.status === "failed");
  if (failed.length > 0) {
    return failed.map((test) => ({ test: test.fullName.trim(), message: test.failureMessages.join("\n") }));
  }
  return status === "failed" ? [{ test: name, message }] : [];
}

let killRunning = () => undefined;

/**
 * Runs Node.js in a process group of its own, so that nothing of it is left when its time is up or this process ends.
 * @returns {Promise<number | undefined>} the exit code; none when it was killed or could not be started
 */
function runToEnd(root, args, { temporary, limitMs }) {
  return new Promise((resolve) => {
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
    child.stdout.pipe(process.stdout, { end: false });
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
        resolve(typeof code === "number" ? code : undefined);
      };
      const patience = setTimeout(done, 5000);
      child.once("close", done);
    };
    child.once("exit", ended).once("error", ended);
  });
}
