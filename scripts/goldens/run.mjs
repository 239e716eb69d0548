// Runs the golden cases against a fresh build and writes what they say, without what changes from run to run.
import { spawn } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { buildProduct } from "../build.mjs";
import { bundleSupport, root } from "../testBundles.mjs";
import { cases, files } from "./cases.mjs";

const input = "  the quay\n";
const atOnce = 2;

/** @param {string} folder where one file per case is written */
export async function record(folder) {
  const work = mkdtempSync(path.join(os.tmpdir(), "gauge-goldens-"));
  mkdirSync(path.join(root, "out"), { recursive: true });
  // a bundle finds the checkout from its own place
  const bundles = mkdtempSync(path.join(root, "out", "goldens-"));
  let server;
  try {
    const dist = path.join(work, "dist");
    await buildProduct({ outdir: dist });
    const there = path.join(work, "there");
    fill(there);
    const support = createRequire(import.meta.url)(await bundleSupport("forge/goldenModels", bundles));
    const realSizes = await support.writeGoldenModels(path.join(there, "models"));
    server = await support.startGoldenServer(path.join(there, "models"));
    const run = { cli: path.join(dist, "cli.js"), work, there, url: server.url };
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const waiting = Object.entries(cases({ url: server.url, realSizes }));
    const total = waiting.length;
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          const [name, args] = next;
          const file = path.join(folder, `${name.replaceAll(/[^\w.,-]+/g, "_")}.txt`);
          writeFileSync(file, await outcome(args, run), { flag: "wx" });
        }
      }),
    );
    return total;
  } finally {
    await server?.stop();
    for (const made of [work, bundles]) rmSync(made, { recursive: true, force: true });
  }
}

function fill(there) {
  const fixtures = path.join(root, "test/fixtures");
  cpSync(path.join(fixtures, "workspace"), path.join(there, "workspace"), { recursive: true });
  cpSync(path.join(fixtures, "logs"), path.join(there, "logs"), { recursive: true });
  for (const name of ["forgets", "window"]) {
    mkdirSync(path.join(there, "ladders", name), { recursive: true });
    const stored = path.join(there, "ladders", name, "ladder.jsonl");
    copyFileSync(path.join(fixtures, "ladder", `${name}.jsonl`), stored);
  }
  const failures = JSON.parse(readFileSync(path.join(fixtures, "logs/failures.json"), "utf8"));
  writeFileSync(path.join(there, "failures.log"), failures.map(({ message }) => `${message}\n`).join(""));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(there, name), text);
}

/** Every case has a home of its own, so that none finds what another one has kept. */
async function outcome(args, { cli, work, there, url }) {
  const home = mkdtempSync(path.join(work, "home-"));
  const folders = {
    HOME: home,
    XDG_CACHE_HOME: path.join(home, "cache"),
    XDG_CONFIG_HOME: path.join(home, "config"),
  };
  const env = { ...folders, PATH: "", TZ: "UTC", LANG: "C.UTF-8", TMPDIR: home };
  const { code, stdout, stderr } = await ended(spawn(process.execPath, [cli, ...args], { cwd: there, env }));
  const places = (text) =>
    text
      .replaceAll(home, "HOME")
      .replaceAll(there, "THERE")
      .replaceAll(work, "WORK")
      .replaceAll(url, "SERVER");
  const [command = ""] = args;
  return places(
    [
      `llama-gauge ${args.join(" ")}`,
      `exit ${code}`,
      `--- stderr\n${stderr}`,
      `--- stdout\n${steady(command, stdout)}`,
    ].join("\n"),
  );
}

function ended(child) {
  return new Promise((resolve, reject) => {
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) {
      child[name].setEncoding("utf8").on("data", (text) => (said[name] += text));
    }
    const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
    child.once("error", reject);
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ code: code ?? signal, ...said });
    });
    // a command that reads nothing may be gone already
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}

/** JSON on many lines, the order of its keys as it was; what a clock says is no result. */
function steady(command, stdout) {
  let document;
  try {
    document = JSON.parse(stdout);
  } catch {
    return stdout.replaceAll(/(skipped, )[\d.,]+ (s|ms|min)\b/g, "$1TIME");
  }
  if (command === "count") document.seconds = "SECONDS";
  if (command === "check") {
    document.createdAt = "TIME";
    document.of.day = "DAY";
    document.tokens.seconds = "SECONDS";
  }
  return `${JSON.stringify(document, null, 1)}\n`;
}
