// How long the editor takes to the first verdict on 500 files, and to the next ones, and where the time goes.
//   node bench/verdict.mjs
import { spawnSync } from "node:child_process";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");
const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
const args = ["run", "--root", "test", "--config", "vitest.pictures.config.mjs", "figures/verdict"];
process.exitCode =
  spawnSync(process.execPath, [vitest, ...args], { cwd: root, stdio: "inherit" }).status ?? 1;
