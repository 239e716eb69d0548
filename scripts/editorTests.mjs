// Runs a Mocha suite in VS Code's real extension host: `node scripts/editorTests.mjs [newest|oldest] [part of file names]`.
// On Linux x86-64 in the VS Code server and headless Chromium; elsewhere, or with LLAMA_GAUGE_TEST_DESKTOP=1, in a desktop
// VS Code that is downloaded.
import { runTests } from "@vscode/test-electron";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { buildProduct } from "./build.mjs";
import { main, ScriptError } from "./run.mjs";
import { bundleSuite, bundleSupport, root } from "./testBundles.mjs";

/** What each host is on the desktop. */
const desktopVersions = { newest: "stable", oldest: "1.100.3" };

/**
 * @param {{ host?: "newest" | "oldest", filter?: string, suite?: string }} [options]
 * @returns {Promise<{ passed: number, failed: number, skipped: number, problem?: string }>}
 */
export async function editorTests({ host = "newest", filter = "", suite = "test/editor" } = {}) {
  const server =
    process.platform === "linux" && process.arch === "x64" && !process.env.LLAMA_GAUGE_TEST_DESKTOP;
  // fresh, and short: the paths of the sockets in it are limited to about 100 characters
  const folder = mkdtempSync(path.join(os.tmpdir(), "lg-editor-"));
  const report = path.join(folder, "report.json");
  const workspace = path.join(folder, "workspace");
  // of its own, so that two runs at once do not overwrite each other's tests
  const bundles = path.join(root, "out", `editor-${process.pid}`);
  let problem;
  try {
    await buildProduct();
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
  const counts = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : undefined;
  rmSync(bundles, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  return editorOutcome(counts, problem);
}

/** A run without a report, or without a test, has failed whatever VS Code's exit code was. */
export function editorOutcome(counts, problem) {
  if (counts === undefined) {
    return { passed: 0, failed: 1, skipped: 0, problem: problem ?? "the suite left no report" };
  }
  if (counts.failed > 0) return counts;
  if (counts.passed === 0) return { ...counts, failed: 1, problem: problem ?? "no test ran" };
  return problem === undefined ? counts : { ...counts, failed: 1, problem };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    const [host, filter] = process.argv.slice(2);
    const { passed, failed, skipped, problem } = await editorTests({
      host,
      filter,
      suite: process.env.LLAMA_GAUGE_TEST_SUITE,
    });
    if (problem !== undefined) console.error(problem);
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
    if (failed > 0) throw new ScriptError("The editor tests failed.");
  });
}
