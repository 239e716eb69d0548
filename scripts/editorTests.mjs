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
import { editorOutcome } from "./editorOutcome.mjs";
import { main, ScriptError } from "./run.mjs";
import { bundleSuite, bundleSupport, root } from "./testBundles.mjs";

/** What each host is on the desktop. */
const desktopVersions = { newest: "stable", oldest: "1.100.3" };

/**
 * @param {{ host?: "newest" | "oldest", filter?: string, suite?: string }} [options] filter: parts of file names, with commas
 * @returns {Promise<import("./editorOutcome.mjs").Run>}
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

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    const [, , host, filter] = process.argv;
    const report = process.env.LLAMA_GAUGE_STAGE_REPORT;
    const suite = process.env.LLAMA_GAUGE_TEST_SUITE;
    const counts = await editorOutcome((failed) => runInEditor({ host, filter: failed ?? filter, suite }));
    if (report) writeFileSync(report, JSON.stringify(counts));
    const { passed, failed, skipped, failures } = counts;
    for (const { test, message } of failures) console.error(`${test}: ${message}`);
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
    if (failed > 0) throw new ScriptError("The editor tests failed.");
  });
}
