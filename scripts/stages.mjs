// Runs the stages of the test suite, several at once where they cannot disturb each other, whatever becomes of each, and adds
// up what they found.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { isolation, whyNotApart } from "./isolation.mjs";
import { killStages, runStage } from "./stageRun.mjs";

/** @typedef {import("./stageRun.mjs").Counts} Counts */

const say = (line) => console.log(line);
const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(0)} s`;
const describe = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`;

/**
 * Prints what failed, a table of all stages and, as the last line, the sums; sets the exit code. The stages start in their
 * order, each as soon as there is what it needs; those that measure time come after all others.
 * @param {string} root folder the stages run in
 * @param {Readonly<Record<string, import("./stageRun.mjs").Stage>>} stages
 * @param {{
 *   ready?: (name: string) => Promise<unknown>,                              there is what a stage needs, or it cannot be had
 *   before?: Promise<Readonly<Record<string, { counts: Counts, seconds: string }>>>,   rows of work that goes on beside them
 *   limitMs?: number,
 *   atOnce?: number,                                                         stages, where they cannot see each other
 * }} [options]
 * @returns {Promise<Readonly<Record<string, Counts>>>}
 */
export async function runStages(root, stages, options = {}) {
  const { ready = () => Promise.resolve(), before = Promise.resolve({}) } = options;
  const { limitMs = 20 * 60_000, atOnce = byCores() } = options;
  const start = Date.now();
  const temporary = temporaryFolder();
  const names = Object.keys(stages);
  const seen = names.map((name) => whyNotApart(stages[name])).find(Boolean);
  if (seen !== undefined) {
    say(
      `The tests see this machine's processes and ports: ${seen}. Where a llama-server runs, some of them fail.`,
    );
  }
  const rows = {};
  const several = names.length > 1;
  const run = async (name) => {
    const begin = Date.now();
    if (several) say(`=== ${name}`);
    // not before: its environment names what was fetched for it
    const isolated = placeOf(stages[name], temporary, names.indexOf(name));
    const counts = await runStage(root, stages[name], {
      isolation: isolated,
      report: path.join(isolated.env.TMPDIR, "report.json"),
      limitMs,
      say: several ? (line) => say(`${name} | ${line}`) : say,
    });
    rows[name] = { counts, seconds: seconds(begin) };
    if (several) say(`=== ${name}: ${describe(counts)}, ${seconds(begin)}`);
  };
  const alone = names.filter((name) => stages[name].alone);
  const together = names.filter((name) => !stages[name].alone);
  await inTurn(together, { atOnce: seen === undefined ? atOnce : 1, ready, run });
  const others = Object.entries(await before);
  await inTurn(alone, { atOnce: 1, ready, run });
  say(`\n=== all stages, ${seconds(start)}`);
  process.exitCode = summary([...others, ...names.map((name) => [name, rows[name]])]);
  return Object.fromEntries(names.map((name) => [name, rows[name].counts]));
}

/** So many at once: always the first of those that are ready. */
async function inTurn(names, { atOnce, ready, run }) {
  const waiting = new Set(names);
  const isReady = new Set();
  const arrivals = new Map(names.map((name) => [name, ready(name).then(() => isReady.add(name))]));
  const work = async () => {
    while (waiting.size > 0) {
      const next = [...waiting].find((name) => isReady.has(name));
      if (next === undefined) {
        await Promise.race([...waiting].map((name) => arrivals.get(name)));
      } else {
        waiting.delete(next);
        await run(next);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

/** One more than there are cores, as each also waits for time to pass; a window takes some memory. */
function byCores() {
  return 1 + Math.min(4, os.availableParallelism());
}

/** A stage's temporary folder with its home, and what else keeps it apart. */
function placeOf({ fetches = false }, temporary, index) {
  const folder = path.join(temporary, String(index));
  mkdirSync(folder);
  chmodSync(folder, 0o711);
  return isolation({ temporary: folder, fetches });
}

/** Everything temporary goes with it, also after an interruption; short, because the paths of sockets in it are limited. */
function temporaryFolder() {
  const folder = mkdtempSync(path.join(os.tmpdir(), "lg"));
  // a test acts as an ordinary user inside it
  chmodSync(folder, 0o711);
  process.once("exit", () => {
    killStages();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
      killStages();
      // browsers need a moment to see that nobody talks to them any more
      setTimeout(() => process.exit(130), 2000);
    });
  }
  return folder;
}

/** What failed, what was tried once more, the table and the sums; the exit code. */
function summary(rows) {
  // once more, at the end: a log is often kept by its last part only
  for (const [name, { counts }] of rows) {
    for (const failure of counts.failures ?? []) say(inShort(name, failure));
    for (const test of counts.retried ?? []) say(`passed only when tried again in ${name}: ${test}`);
  }
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const [name, { counts, seconds }] of rows) {
    const retries = counts.retried?.length ?? 0;
    const used = counts.cpuSeconds === undefined ? "" : `${counts.cpuSeconds.toFixed(0)} s of CPU`;
    const outcome = `${describe(counts)}${retries > 0 ? `, ${retries} retried` : ""}`;
    say(`${name.padEnd(14)} ${seconds.padStart(6)}  ${used.padStart(13)}  ${outcome}`);
    for (const key of Object.keys(total)) total[key] += counts[key];
  }
  say(describe(total));
  return total.failed > 0 || total.passed === 0 ? 1 : 0;
}

/** A failure with what it says first. */
function inShort(stage, { test, message }) {
  const lines = message.split("\n").slice(0, 15);
  return [`failed in ${stage}: ${test}`, ...lines.map((line) => `    ${line.slice(0, 300)}`)].join("\n");
}
