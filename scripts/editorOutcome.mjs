// What a suite in VS Code's extension host has found, with a second try for files that failed.

/**
 * What the tests of each file did, and what else went wrong.
 * @typedef {{ passed: number, skipped: number, failures: readonly import("./stageRun.mjs").Failure[] }} FileReport
 * @typedef {{ files: Readonly<Record<string, FileReport>>, problem?: string }} Run
 */

/**
 * Runs a suite. A file with a failed test is run once more, in a fresh VS Code, before it counts as broken; the output says so.
 * @param {(files?: string) => Promise<Run>} run the whole suite, or only files, named with commas
 * @returns {Promise<import("./stageRun.mjs").Counts>}
 */
export async function editorOutcome(run, say = (line) => console.log(line)) {
  const first = await run();
  const failed = Object.keys(first.files).filter((name) => first.files[name].failures.length > 0);
  if (failed.length === 0) return sums(first);
  say(`Once more, in a fresh VS Code: ${failed.join(", ")}`);
  const again = await run(failed.join());
  const retried = failed
    .filter((name) => again.files[name]?.failures.length === 0)
    .flatMap((name) => first.files[name].failures.map(({ test }) => `${name} > ${test}`));
  return { ...sums({ files: { ...first.files, ...again.files }, problem: again.problem }), retried };
}

/** A run with another problem than failed tests, or without a test, has failed whatever VS Code's exit code was. */
function sums({ files, problem }) {
  const all = Object.values(files);
  const sum = (count) => all.reduce((total, file) => total + count(file), 0);
  const failures = all.flatMap((file) => file.failures);
  const passed = sum((file) => file.passed);
  if (failures.length === 0 && (problem !== undefined || passed === 0)) {
    failures.push({ test: "the run as a whole", message: problem ?? "no test ran" });
  }
  return { passed, failed: failures.length, skipped: sum((file) => file.skipped), failures };
}
