// Real weights against the predictions, as Markdown tables: `node bench/real.mjs [wait|again|draft|ladder …] [--quick]`.
// wait, again and draft take about ten minutes on two quiet cores, the ladder as long again. Close everything else before.
import { spawnSync } from "node:child_process";
import path from "node:path";
import { build } from "esbuild";

const root = path.join(import.meta.dirname, "..");
const outfile = path.join(root, "out/bench/real.mjs");
await build({
  absWorkingDir: root,
  entryPoints: ["bench/real/real.ts"],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  packages: "external",
  logLevel: "warning",
});
const { status } = spawnSync(process.execPath, [outfile, ...process.argv.slice(2)], { stdio: "inherit" });
process.exitCode = status ?? 1;
