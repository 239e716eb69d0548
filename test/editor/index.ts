import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import Mocha from "mocha";

/** What `scripts/editorTests.mjs` reads, by file: an exit code alone can say "fine" although nothing ran. */
type Report = Record<string, FileReport>;

interface FileReport {
  passed: number;
  skipped: number;
  readonly failures: { readonly test: string; readonly message: string }[];
}

/**
 * VS Code calls this in the extension host. It runs every bundled `*.test.js` beside it whose path contains
 * one of the words in LLAMA_GAUGE_TEST_FILTER (`,` between them), and writes its report to LLAMA_GAUGE_TEST_REPORT.
 */
export async function run(): Promise<void> {
  const words = (process.env["LLAMA_GAUGE_TEST_FILTER"] ?? "").split(",");
  const mocha = new Mocha({ ui: "bdd", color: false, timeout: 60_000, reporter: "spec", forbidOnly: true });
  for (const name of readdirSync(__dirname, { recursive: true, encoding: "utf8" }).sort()) {
    if (name.endsWith(".test.js") && words.some((word) => name.includes(word)))
      mocha.addFile(path.join(__dirname, name));
  }
  const report = await runMocha(mocha);
  const file = process.env["LLAMA_GAUGE_TEST_REPORT"];
  if (file !== undefined) writeFileSync(file, JSON.stringify(report));
  const failed = Object.values(report).flatMap(({ failures }) => failures);
  if (failed.length > 0) throw new Error(`${failed.length} tests failed`);
  if (Object.keys(report).length === 0) throw new Error("no test ran");
}

function runMocha(mocha: Mocha): Promise<Report> {
  const report: Report = {};
  const of = ({ file = "" }: Mocha.Runnable): FileReport =>
    (report[path.basename(file)] ??= { passed: 0, skipped: 0, failures: [] });
  return new Promise((resolve) => {
    mocha
      .run(() => resolve(report))
      .on("pass", (test) => {
        of(test).passed++;
      })
      .on("pending", (test) => {
        of(test).skipped++;
      })
      .on("fail", (test, error: Error) => {
        of(test).failures.push({ test: test.fullTitle(), message: error.stack ?? error.message });
      });
  });
}
