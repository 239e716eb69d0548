// Predicted against really read prompts, as a Markdown table: `node bench/predictionLive.mjs [rounds] [probe depth] [setup]`.
// About six minutes on a quiet two-core machine; close everything else before.
import { spawnSync } from "node:child_process";
import path from "node:path";
import { build } from "esbuild";

const root = path.join(import.meta.dirname, "..");
const outfile = path.join(root, "out/bench/predictionLive.mjs");
await build({
  absWorkingDir: root,
  entryPoints: ["bench/predictionLive.ts"],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  packages: "external",
  logLevel: "warning",
});
const { status } = spawnSync(process.execPath, [outfile, ...process.argv.slice(2)], { stdio: "inherit" });
process.exitCode = status ?? 1;
