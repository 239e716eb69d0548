// What the installed extension costs while nobody uses it: activation, memory, processor time, requests. About six minutes.
//   node bench/idle.mjs
import { spawnSync } from "node:child_process";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");
const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
const args = ["run", "--root", "test", "--config", "vitest.pictures.config.mjs", "figures/idle"];
process.exitCode =
  spawnSync(process.execPath, [vitest, ...args], { cwd: root, stdio: "inherit" }).status ?? 1;
