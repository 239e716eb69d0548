// What the tests need from the system: a browser to show VS Code in, fonts, ripgrep, a compiler for two small modules.
import { accessSync, constants, existsSync } from "node:fs";
import path from "node:path";
import { run, ScriptError } from "./run.mjs";

export const browsers = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The absolute path of the first of these programs that is on the PATH. */
export function findProgram(names) {
  for (const name of names) {
    for (const folder of (process.env.PATH ?? "").split(path.delimiter).filter(Boolean)) {
      const file = path.join(folder, name);
      try {
        accessSync(file, constants.X_OK);
        return file;
      } catch {
        // not here
      }
    }
  }
  return undefined;
}

/** Chromium or Chrome: $CHROMIUM, else the PATH's. */
export function findBrowser() {
  return process.env.CHROMIUM || findProgram(browsers);
}

const needs = [
  { package: "chromium", has: () => findBrowser() !== undefined },
  { package: "ripgrep", has: () => findProgram(["rg"]) !== undefined },
  { package: "python3", has: () => findProgram(["python3"]) !== undefined },
  { package: "make", has: () => findProgram(["make"]) !== undefined },
  { package: "g++", has: () => findProgram(["g++"]) !== undefined },
  { package: "fonts-dejavu-core", has: () => existsSync("/usr/share/fonts/truetype/dejavu") },
  // screenshots are made in Japanese too
  { package: "fonts-ipafont-gothic", has: () => existsSync("/usr/share/fonts/opentype/ipafont-gothic") },
];

/** Installs what is missing with apt; says how when it must not. */
export async function ensureSystemPackages({ say = () => undefined } = {}) {
  const missing = needs.filter((need) => !need.has()).map((need) => need.package);
  if (missing.length === 0) return;
  const command = `apt-get install -y --no-install-recommends ${missing.join(" ")}`;
  const apt = findProgram(["apt-get"]);
  const sudo = process.getuid?.() === 0 ? [] : await passwordlessSudo();
  if (apt === undefined || sudo === undefined) {
    throw new ScriptError(`Missing on this machine: ${missing.join(", ")}. As root: ${command}`);
  }
  say(`Installing ${missing.join(", ")} with apt (once) …`);
  const [program, ...before] = [...sudo, "env", "DEBIAN_FRONTEND=noninteractive", apt];
  await run(program, [...before, "update", "-qq"], { what: "apt-get update" });
  await run(program, [...before, ...command.split(" ").slice(1), "-qq"], { what: command });
}

async function passwordlessSudo() {
  const sudo = findProgram(["sudo"]);
  if (sudo === undefined) return undefined;
  return run(sudo, ["-n", "true"], { timeoutMs: 10_000 }).then(
    () => [sudo, "-n"],
    () => undefined,
  );
}
