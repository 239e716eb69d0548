// `npm ci` when what is installed is not what the lock file says.
import { readFileSync } from "node:fs";
import path from "node:path";
import { run } from "./run.mjs";

export async function ensureNodePackages(root, { say = () => undefined } = {}) {
  if (isInstalled(root)) return;
  say("Installing npm packages (npm ci) …");
  await run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: root, what: "npm ci" });
}

/** npm notes what it has installed in a lock file of its own, which it writes last. */
function isInstalled(root) {
  const installed = packagesOf(path.join(root, "node_modules/.package-lock.json"));
  if (installed === undefined) return false;
  return Object.entries(packagesOf(path.join(root, "package-lock.json")) ?? {}).every(
    // optional packages may be for other platforms
    ([name, { version, optional }]) => name === "" || optional || installed[name]?.version === version,
  );
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}
