// `npm run package`: builds for production and packs an installable VSIX, out/llama-gauge.vsix or the file that is named. The files are laid out in a
// folder of their own first, so that the VSIX holds nothing that lies around in the checkout.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { buildProduct } from "./build.mjs";
import { notice } from "./notice.mjs";
import { main, run } from "./run.mjs";

const root = path.join(import.meta.dirname, "..");

/** @returns {Promise<string>} the VSIX */
export async function packageExtension({ target = path.join(root, "out/llama-gauge.vsix") } = {}) {
  mkdirSync(path.join(root, "out"), { recursive: true });
  mkdirSync(path.dirname(target), { recursive: true });
  const stage = mkdtempSync(path.join(root, "out/package-"));
  try {
    const inputs = await buildProduct({ production: true, outdir: path.join(stage, "dist") });
    writeFileSync(path.join(stage, "NOTICE"), notice(root, inputs));
    writeFileSync(path.join(stage, "package.json"), shippedManifest());
    const wanted =
      /^(\.vscodeignore|README\.md|LICENSE|CHANGELOG\.md|package\.nls(\.[\w-]+)?\.json|media|syntaxes|docs|l10n)$/;
    for (const name of readdirSync(root).filter((name) => wanted.test(name))) {
      cpSync(path.join(root, name), path.join(stage, name), { recursive: true });
    }
    const vsce = path.join(root, "node_modules/@vscode/vsce/vsce");
    const args = [
      "package",
      "--no-dependencies",
      "--allow-missing-repository",
      "--no-rewrite-relative-links",
    ];
    await run(process.execPath, [vsce, ...args, "--out", target], { cwd: stage, what: "vsce package" });
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
  return target;
}

/** package.json without what only the checkout needs; the packages are inside the bundles. */
function shippedManifest() {
  const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  for (const key of ["scripts", "dependencies", "devDependencies", "prettier", "private", "overrides"])
    delete manifest[key];
  return JSON.stringify(manifest, undefined, 2);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    const [, , target] = process.argv;
    const file = await packageExtension({ target: target && path.resolve(target) });
    console.log(`${path.relative(process.cwd(), file)}  ${(statSync(file).size / 1024).toFixed(0)} KiB`);
  });
}
