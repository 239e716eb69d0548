import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import Mocha from "mocha";

/** What `scripts/editorTests.mjs` reads: an exit code alone can say "fine" although nothing ran. */
interface Report {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * VS Code calls this in the extension host. It runs every bundled `*.test.js` beside it whose path contains
 * LLAMA_GAUGE_TEST_FILTER, and writes its report to LLAMA_GAUGE_TEST_REPORT.
 */
export async function run(): Promise<void> {
  const filter = process.env["LLAMA_GAUGE_TEST_FILTER"] ?? "";
  const mocha = new Mocha({ ui: "bdd", color: false, timeout: 60_000, reporter: "spec", forbidOnly: true });
  for (const name of readdirSync(__dirname, { recursive: true, encoding: "utf8" }).sort()) {
    if (name.endsWith(".test.js") && name.includes(filter)) mocha.addFile(path.join(__dirname, name));
  }
  const report = await runMocha(mocha);
  const file = process.env["LLAMA_GAUGE_TEST_REPORT"];
  if (file !== undefined) writeFileSync(file, JSON.stringify(report));
  if (report.passed + report.failed === 0) throw new Error("no test ran");
  if (report.failed > 0) throw new Error(`${report.failed} tests failed`);
}

function runMocha(mocha: Mocha): Promise<Report> {
  return new Promise((resolve) => {
    const runner = mocha.run((failures) => {
      resolve({
        passed: runner.stats?.passes ?? 0,
        failed: failures,
        skipped: runner.stats?.pending ?? 0,
      });
    });
  });
}
