// Runs one stage of the test suite in a process group of its own, and reads what it found.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

/**
 * @typedef {{ test: string, message: string }} Failure
 * @typedef {{
 *   passed: number, failed: number, skipped: number,
 *   failures?: readonly Failure[],
 *   retried?: readonly string[],           tests that failed at first and passed when they were run once more
 *   times?: Readonly<Record<string, number>>,   seconds that each of its files took
 *   cpuSeconds?: number,                   what it and everything it started has used of the processors, where that can be told
 * }} Counts
 * @typedef {{
 *   program: readonly string[],            what Node.js runs
 *   result: "exit" | "report",             how its outcome is read: exit code, or the Counts it writes to the file that
 *                                          LLAMA_GAUGE_STAGE_REPORT names
 *   elsewhere?: boolean,                   it cannot run on this platform
 *   alone?: boolean,                       it measures time: nothing else runs beside it
 *   fetches?: boolean,                     it needs the network
 * }} Stage
 */

/**
 * @param {string} root folder it runs in
 * @param {Stage} stage
 * @param {{
 *   isolation: import("./isolation.mjs").Isolation,
 *   report: string,
 *   limitMs: number,
 *   say: (line: string) => void,
 * }} options
 * @returns {Promise<Counts>}
 */
export async function runStage(root, stage, { isolation, report, limitMs, say }) {
  if (stage.elsewhere) {
    say("cannot run on this platform");
    return { passed: 0, failed: 0, skipped: 1 };
  }
  const env = {
    ...isolation.env,
    LLAMA_GAUGE_STAGE_REPORT: report,
    ...(!process.stdout.isTTY && { NO_COLOR: "1" }),
  };
  const times = `${report}.times`;
  const command = [...timed(times), ...isolation.before, process.execPath, ...stage.program];
  const code = await runToEnd(command, { cwd: root, env }, limitMs, say);
  const found = stage.result === "exit" ? fromExit(code) : readJson(report);
  const counts = code === 0 && found !== undefined && found.passed + found.failed > 0 ? found : broken(found);
  return { ...counts, cpuSeconds: cpuSeconds(times) };
}

/** A shell that runs a command and writes what it and all its children have used. */
function timed(file) {
  if (process.platform === "win32") return [];
  return ["/bin/sh", "-c", 'file=$1; shift; "$@"; code=$?; times >"$file"; exit $code', "sh", file];
}

/** User and system time of a shell's children: the last line of `times` by POSIX, like `1m2.50s 0m3.10s`. */
function cpuSeconds(file) {
  try {
    const last = readFileSync(file, "utf8").trimEnd().split("\n").at(-1);
    return [...last.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + 60 * m + Number(s), 0);
  } catch {
    // it was killed
    return undefined;
  }
}

/** A stage that failed without naming a failed test, or that ran none, has failed once. */
function broken({ passed = 0, failed = 0, skipped = 0, failures, retried } = {}) {
  return { passed, failed: Math.max(failed, 1), skipped, failures, retried };
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

const running = new Set();

/** Ends every stage that runs, with all it has started. */
export function killStages() {
  for (const kill of running) kill();
}

/**
 * Runs a command in a process group of its own, so that nothing of it is left when its time is up or this process ends.
 * @returns {Promise<number | undefined>} the exit code; none when it was killed or could not be started
 */
function runToEnd([program, ...args], options, limitMs, say) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const kill = () => {
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // nothing of it is left
      }
    };
    running.add(kill);
    for (const output of [child.stdout, child.stderr]) createInterface({ input: output }).on("line", say);
    const limit = setTimeout(() => {
      say(`took longer than ${limitMs / 1000} s`);
      kill();
    }, limitMs);
    const ended = (code) => {
      clearTimeout(limit);
      kill();
      running.delete(kill);
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
