// The NOTICE file: what the bundles contain of others' work, and under which licence.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { ScriptError } from "./run.mjs";

const allowed = new Set([
  "MIT",
  "ISC",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  // minimatch, which vscode-languageclient brings
  "BlueOak-1.0.0",
]);

/**
 * @param {string} root the checkout
 * @param {readonly string[]} inputs source files of the bundles, relative to the checkout
 */
export function notice(root, inputs) {
  const packages = packageFolders(inputs).map((folder) => describe(path.join(root, folder)));
  const wrong = packages.filter(({ license }) => !allowed.has(license));
  if (wrong.length > 0) {
    throw new ScriptError(
      `These licences may not be shipped: ${wrong.map((p) => `${p.name}: ${p.license}`).join(", ")}`,
    );
  }
  const sections = packages.map(
    ({ name, version, license, text }) =>
      `${"=".repeat(80)}\n${name} ${version} (${license})\n\n${text.trim()}\n`,
  );
  return `Llama Gauge contains the following packages.\n\n${sections.join("\n")}`;
}

/** The packages' folders, sorted. */
export function packageFolders(inputs) {
  // a file that a plugin loaded has the plugin's namespace before it
  const folder = /^(?:[\w-]+:)?(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
  return [...new Set(inputs.flatMap((file) => folder.exec(file)?.[1] ?? []))].sort();
}

function describe(folder) {
  const {
    name,
    version,
    license = "unknown",
    author,
  } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const holder = typeof author === "object" ? author.name : (author ?? "the authors");
  const text = file
    ? readFileSync(path.join(folder, file), "utf8")
    : `Copyright ${holder}. Licence: ${license}.`;
  return { name, version, license, text };
}
