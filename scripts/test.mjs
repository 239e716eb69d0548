// `npm test`: fetches what is missing on this machine, then runs every stage. `npm test -- quick` runs those one waits for
// while working, `npm test -- unit ui` some, `npm test -- ui ladder` the files of a stage with this in their path;
// `npm test -- fuzz --seconds 600 --seed 7` tries hostile inputs for longer than the suite does.
// The last line is `N passed, N failed, N skipped`; the exit code is 0 only when nothing failed.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { llamaCpp } from "./llamaCpp.mjs";
import { ensureNodePackages } from "./nodePackages.mjs";
import { NoRealModel, realModel, realModels } from "./realModels.mjs";
import { knownTimes, rememberTimes, shares, testFiles } from "./shares.mjs";
import { runStages } from "./stages.mjs";
import { ensureSystemPackages } from "./systemPackages.mjs";
import { vscodeHost } from "./vscodeHosts.mjs";

const root = path.join(import.meta.dirname, "..");
const hostsRunHere = process.platform === "linux" && process.arch === "x64";
const onDesktop = !hostsRunHere || Boolean(process.env.LLAMA_GAUGE_TEST_DESKTOP);
const say = (line) => console.log(line);

/** What a stage may need: how it is fetched, and what must be there before. */
const parts = {
  packages: { get: () => ensureNodePackages(root, { say }) },
  system: { get: () => (hostsRunHere ? ensureSystemPackages({ say }) : undefined) },
  llamaCpp: {
    after: ["system"],
    get: async () => {
      const { folder, version } = await llamaCpp({ say });
      process.env.LLAMA_CPP_DIR = folder;
      say(`llama.cpp ${version}`);
    },
  },
  newest: { after: ["system"], get: () => (hostsRunHere ? vscodeHost("newest", { say }) : undefined) },
  oldest: { after: ["system"], get: () => (hostsRunHere ? vscodeHost("oldest", { say }) : undefined) },
  vocabularies: {
    after: ["packages"],
    get: async () => {
      const { callSupport } = await import("./testBundles.mjs");
      await callSupport("vocabularies/vocabulary", "fetchVocabularies");
    },
  },
  /** Where they cannot be had, the stage uses the forge's. */
  realModels: {
    get: async () => {
      for (const name of Object.keys(realModels)) {
        await realModel(name, { say }).catch((error) => {
          if (!(error instanceof NoRealModel)) throw error;
          say(error.message);
        });
      }
    },
  },
  /** Once for all stages: the programs in dist/ and an installable extension, which the tests find by this variable. */
  product: {
    after: ["packages"],
    get: async () => {
      const [{ buildProduct }, { packageExtension }] = [
        await import("./build.mjs"),
        await import("./package.mjs"),
      ];
      mkdirSync(path.join(root, "out"), { recursive: true });
      const folder = mkdtempSync(path.join(root, "out/product-"));
      process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
      await buildProduct();
      process.env.LLAMA_GAUGE_VSIX = await packageExtension({
        target: path.join(folder, "llama-gauge.vsix"),
      });
    },
  },
};

const bin = (name) => path.join(root, "node_modules", name);
const check = (...program) => ({ program, result: "exit", needs: ["packages"] });
const vitest = (...args) => ({
  program: [bin("vitest/vitest.mjs"), "run", "--root", "test", ...args],
  result: "report",
  needs: ["packages"],
  takesNames: true,
});
const editor = (host, ...names) => ({
  program: ["scripts/editorTests.mjs", host, ...names],
  result: "report",
  needs: ["packages", "system", "llamaCpp", "vocabularies", "product", host],
  fetches: onDesktop,
});
const forServers = { needs: ["packages", "system", "llamaCpp", "vocabularies", "product", "newest"] };
const ui = (...names) => ({
  ...vitest("--config", "vitest.ui.config.mjs", ...names),
  ...forServers,
  elsewhere: !hostsRunHere,
});

/** In the order in which they start: what takes longest first, so that nothing is waited for alone at the end. */
const stages = {
  integration: {
    ...vitest("--config", "vitest.integration.config.mjs"),
    ...forServers,
    shared: "test/integration",
  },
  ui: { ...ui(), shared: "test/ui" },
  /** A user's way through the real server and editor. */
  walk: ui("mainJob"),
  editor: { ...editor("newest"), takesNames: true },
  lint: check(bin("eslint/bin/eslint.js"), "."),
  unit: vitest(),
  typecheck: check("scripts/typecheck.mjs"),
  oldest: editor("oldest", "smoke"),
  fuzz: vitest("--config", "vitest.fuzz.config.mjs"),
  format: check(
    ...[bin("prettier/bin/prettier.cjs"), "--check", "--log-level=warn", "."],
    ...["--cache", "--cache-strategy=content", "--cache-location=out/prettier-cache"],
  ),
  real: {
    ...vitest("--config", "vitest.real.config.mjs"),
    needs: ["packages", "llamaCpp", "vocabularies", "realModels"],
  },
  measuring: { ...vitest("--config", "vitest.measuring.config.mjs"), ...forServers, alone: true },
};
const all = Object.keys(stages).filter((name) => name !== "walk");
const quick = ["walk", "lint", "unit", "typecheck", "format"];

/** The stages that are meant by words, and the parts of file names after them. */
function asked(words) {
  const isStage = (word) => word === "quick" || word in stages;
  const wanted = words.filter(isStage).flatMap((word) => (word === "quick" ? quick : [word]));
  const files = words.filter((word) => !isStage(word));
  const takers = wanted.filter((name) => stages[name].takesNames);
  if (files.length > 0 && takers.length !== 1) {
    const known = [...Object.keys(stages), "quick"].join(", ");
    console.error(
      `No such stage: ${files.join(", ")}. There are: ${known}; a file is named after its stage.`,
    );
    process.exit(2);
  }
  const names = words.length === 0 ? all : Object.keys(stages).filter((name) => wanted.includes(name));
  return Object.fromEntries(
    names.flatMap((name) => {
      if (files.length > 0 && takers.includes(name)) return [[name, onlyFiles(name, files)]];
      return stages[name].shared === undefined ? [[name, stages[name]]] : inShares(name);
    }),
  );
}

/** Two stages instead of a long one: beside each other they wait less for the end. */
function inShares(name) {
  const { shared, ...stage } = stages[name];
  const found = shares(testFiles(root, shared), 2, knownTimes());
  return found.map((files, i) => {
    const names = files.map((file) => path.posix.relative("test", file));
    return [`${name} ${i + 1}/${found.length}`, { ...stage, program: [...stage.program, ...names] }];
  });
}

function onlyFiles(name, files) {
  const stage = stages[name];
  const args = name === "editor" ? [files.join(",")] : files;
  return { ...stage, program: [...stage.program, ...args] };
}

/** Fetches everything that these stages need, at once; each of it resolves when it is there, or cannot be had. */
function prepare(wanted) {
  const start = Date.now();
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const fetched = {};
  const fetch = (name) => (fetched[name] ??= get(parts[name]));
  const get = async ({ after = [], get }) => {
    await Promise.all(after.map(fetch));
    try {
      await get();
    } catch (error) {
      // the stages that need it will fail as well; the others still run
      console.error(error instanceof Error ? error.message : error);
      counts.failed += 1;
    }
  };
  const ready = (name) => Promise.all(wanted[name].needs.map(fetch));
  const all = Promise.all(Object.keys(wanted).map(ready)).then(() => ({
    prepare: { counts, seconds: `${((Date.now() - start) / 1000).toFixed(0)} s` },
  }));
  return { ready, before: all };
}

/** `--seconds N` and `--seed N` are for the fuzz stage; the rest are words. */
function withoutFuzzOptions(words) {
  const rest = [...words];
  for (const name of ["seconds", "seed"]) {
    const at = rest.indexOf(`--${name}`);
    if (at < 0) continue;
    const [, value] = rest.splice(at, 2);
    if (!/^\d+$/.test(value ?? "")) {
      console.error(`--${name} needs a whole number.`);
      process.exit(2);
    }
    process.env[`LLAMA_GAUGE_FUZZ_${name.toUpperCase()}`] = value;
  }
  return rest;
}

const wanted = asked(withoutFuzzOptions(process.argv.slice(2)));
const counts = Object.values(await runStages(root, wanted, prepare(wanted)));
rememberTimes(Object.assign({}, ...counts.map(({ times }) => times)));
