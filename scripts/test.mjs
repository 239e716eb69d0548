// `npm test`: fetches what is missing on this machine, then runs every stage. `npm test -- unit ui` runs some of them.
// The last line is `N passed, N failed, N skipped`; the exit code is 0 only when nothing failed.
import path from "node:path";
import { llamaCpp } from "./llamaCpp.mjs";
import { ensureNodePackages } from "./nodePackages.mjs";
import { runStages } from "./stages.mjs";
import { ensureSystemPackages } from "./systemPackages.mjs";
import { vscodeHost } from "./vscodeHosts.mjs";

const root = path.join(import.meta.dirname, "..");
const hostsRunHere = process.platform === "linux" && process.arch === "x64";
const say = (line) => console.log(line);

/** What a stage may need, in the order in which it is fetched. */
const parts = {
  packages: () => ensureNodePackages(root, { say }),
  system: () => (hostsRunHere ? ensureSystemPackages({ say }) : undefined),
  llamaCpp: async () => {
    const { folder, version } = await llamaCpp({ say });
    process.env.LLAMA_CPP_DIR = folder;
    say(`llama.cpp ${version}`);
  },
  newest: () => (hostsRunHere ? vscodeHost("newest", { say }) : undefined),
  oldest: () => (hostsRunHere ? vscodeHost("oldest", { say }) : undefined),
};

const bin = (name) => path.join(root, "node_modules", name);
const vitest = (...args) => ({
  program: [bin("vitest/vitest.mjs"), "run", "--root", "test", ...args],
  result: "vitest",
});

const stages = {
  typecheck: { program: [bin("typescript/bin/tsc"), "-b"], result: "exit", needs: ["packages"] },
  lint: { program: [bin("eslint/bin/eslint.js"), "."], result: "exit", needs: ["packages"] },
  format: {
    program: [bin("prettier/bin/prettier.cjs"), "--check", "--log-level=warn", "."],
    result: "exit",
    needs: ["packages"],
  },
  unit: { ...vitest(), needs: ["packages"] },
  build: { program: ["scripts/build.mjs"], result: "exit", needs: ["packages"] },
  integration: {
    ...vitest("--config", "vitest.integration.config.mjs"),
    needs: ["packages", "system", "llamaCpp", "newest"],
  },
  editor: {
    program: ["scripts/editorTests.mjs", "newest"],
    result: "report",
    needs: ["packages", "system", "llamaCpp", "newest"],
  },
  oldest: {
    program: ["scripts/editorTests.mjs", "oldest", "smoke"],
    result: "report",
    needs: ["packages", "system", "llamaCpp", "oldest"],
  },
  ui: {
    ...vitest("--config", "vitest.ui.config.mjs"),
    needs: ["packages", "system", "llamaCpp", "newest"],
    elsewhere: !hostsRunHere,
  },
};

async function prepare(names) {
  const start = Date.now();
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const part of Object.keys(parts).filter((part) =>
    names.some((name) => stages[name].needs.includes(part)),
  )) {
    try {
      await parts[part]();
    } catch (error) {
      // the stages that need it will fail as well; the others still run
      console.error(error instanceof Error ? error.message : error);
      counts.failed += 1;
    }
  }
  return { counts, seconds: `${((Date.now() - start) / 1000).toFixed(0)} s` };
}

// what is being installed is cleaned up at exit
const interrupt = () => process.exit(130);
process.once("SIGINT", interrupt).once("SIGTERM", interrupt);

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in stages));
if (unknown.length > 0) {
  console.error(`No such stage: ${unknown.join(", ")}. There are: ${Object.keys(stages).join(", ")}.`);
  process.exit(2);
}
const names = Object.keys(stages).filter((name) => asked.length === 0 || asked.includes(name));
const before = { prepare: await prepare(names) };
process.removeListener("SIGINT", interrupt).removeListener("SIGTERM", interrupt);
await runStages(root, Object.fromEntries(names.map((name) => [name, stages[name]])), { before });
