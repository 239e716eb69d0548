// Runs a Mocha suite in VS Code's real extension host:
// `node scripts/editorTests.mjs [newest|oldest] [part of file names]`; writes what it found to LLAMA_GAUGE_STAGE_REPORT.
// `npm test` has built the product once for all its stages and says so with LLAMA_GAUGE_VSIX. On Linux x86-64 in the VS Code server and headless Chromium; elsewhere, or with LLAMA_GAUGE_TEST_DESKTOP=1, in a desktop
// VS Code that is downloaded.
import { runTests } from "@vscode/test-electron";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { buildProduct } from "./build.mjs";
import { main, ScriptError } from "./run.mjs";
import { bundleSuite, bundleSupport, root } from "./testBundles.mjs";

/** What each host is on the desktop. */
const desktopVersions = { newest: "stable", oldest: "1.100.3" };

/**
 * What the tests of each file did, and what else went wrong.
 * @typedef {{ passed: number, skipped: number, failures: readonly import("./stageRun.mjs").Failure[] }} FileReport
 * @typedef {{ files: Readonly<Record<string, FileReport>>, problem?: string }} Run
 */

/**
 * @param {{ host?: "newest" | "oldest", filter?: string, suite?: string }} [options] filter: parts of file names, with commas
 * @returns {Promise<Run>}
 */
async function runInEditor({ host = "newest", filter = "", suite = "test/editor" } = {}) {
  const server =
    process.platform === "linux" && process.arch === "x64" && !process.env.LLAMA_GAUGE_TEST_DESKTOP;
  // fresh, and short: the paths of the sockets in it are limited to about 100 characters
  const folder = mkdtempSync(path.join(os.tmpdir(), "lg-editor-"));
  const report = path.join(folder, "report.json");
  const workspace = path.join(folder, "workspace");
  // of its own, so that two runs at once do not overwrite each other's tests
  mkdirSync(path.join(root, "out"), { recursive: true });
  const bundles = mkdtempSync(path.join(root, "out/editor-"));
  let problem;
  try {
    if (!process.env.LLAMA_GAUGE_VSIX) await buildProduct();
    cpSync(path.join(root, "test/fixtures/workspace"), workspace, { recursive: true });
    await runTests({
      ...(server
        ? { vscodeExecutablePath: await bundleSupport("vscodeHost/code", bundles) }
        : { version: desktopVersions[host] }),
      extensionDevelopmentPath: root,
      extensionTestsPath: await bundleSuite(suite, path.join(bundles, "suite")),
      extensionTestsEnv: {
        LLAMA_GAUGE_TEST_FILTER: filter,
        LLAMA_GAUGE_TEST_REPORT: report,
        LLAMA_GAUGE_VSCODE_HOST: host,
      },
      launchArgs: [workspace, "--disable-extensions", `--user-data-dir=${path.join(folder, "user-data")}`],
    });
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  const files = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : undefined;
  rmSync(bundles, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  return {
    files: files ?? {},
    problem: files === undefined ? (problem ?? "the suite left no report") : problem,
  };
}

/**
 * Runs a suite. A file with a failed test is run once more, in a fresh VS Code, before it counts as broken; the output says so.
 * @param {Parameters<typeof runInEditor>[0]} options
 * @returns {Promise<import("./stageRun.mjs").Counts>}
 */
async function editorTests(options) {
  const first = await runInEditor(options);
  const failed = Object.keys(first.files).filter((name) => first.files[name].failures.length > 0);
  if (failed.length === 0) return editorOutcome(first);
  console.log(`Once more, in a fresh VS Code: ${failed.join(", ")}`);
  const again = await runInEditor({ ...options, filter: failed.join() });
  const outcome = editorOutcome({ files: { ...first.files, ...again.files }, problem: again.problem });
  const retried = failed
    .filter((name) => again.files[name]?.failures.length === 0)
    .flatMap((name) => first.files[name].failures.map(({ test }) => `${name} > ${test}`));
  return { ...outcome, retried };
}

/** The sums. A run with another problem than failed tests, or without a test, has failed whatever VS Code's exit code was. */
function editorOutcome({ files, problem }) {
  const all = Object.values(files);
  const sum = (count) => all.reduce((total, file) => total + count(file), 0);
  const failures = all.flatMap((file) => file.failures);
  const passed = sum((file) => file.passed);
  if (failures.length === 0 && (problem !== undefined || passed === 0)) {
    failures.push({ test: "the run as a whole", message: problem ?? "no test ran" });
  }
  return { passed, failed: failures.length, skipped: sum((file) => file.skipped), failures };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    const [, , host, filter] = process.argv;
    const report = process.env.LLAMA_GAUGE_STAGE_REPORT;
    const counts = await editorTests({ host, filter, suite: process.env.LLAMA_GAUGE_TEST_SUITE });
    if (report) writeFileSync(report, JSON.stringify(counts));
    const { passed, failed, skipped, failures } = counts;
    for (const { test, message } of failures) console.error(`${test}: ${message}`);
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
    if (failed > 0) throw new ScriptError("The editor tests failed.");
  });
}
