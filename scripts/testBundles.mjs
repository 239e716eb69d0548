// Bundles the TypeScript that runs outside of Vitest: test suites for the extension host, the stand-in for VS Code's
// executable, and the helpers that `npm start` uses.
import { build } from "esbuild";
import { chmodSync, mkdtempSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

export const root = path.join(import.meta.dirname, "..");
const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  sourcemap: "linked",
  logLevel: "warning",
  // a bundle stays inside the checkout and finds its own place there
  define: { "import.meta.dirname": "__dirname" },
  // must be the copies that are loaded anyway, or load files of their own
  external: ["vscode", "mocha", "playwright-core"],
};

/**
 * Bundles the `*.test.ts` files of a folder, one by one, with the entry that runs them in the extension host.
 * @returns {Promise<string>} the entry, for VS Code's extensionTestsPath
 */
export async function bundleSuite(folder, outdir) {
  const entryPoints = { index: "test/editor/index.ts" };
  for (const name of readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".test.ts")) entryPoints[name.slice(0, -".ts".length)] = path.join(folder, name);
  }
  await build({ ...shared, entryPoints, outdir });
  return path.join(outdir, "index.js");
}

/**
 * Bundles one file of test/support for a script.
 * @returns {Promise<string>} the bundle, which is executable
 */
export async function bundleSupport(name, outdir) {
  const outfile = path.join(outdir, `${path.basename(name)}.js`);
  const banner = { js: "#!/usr/bin/env node" };
  await build({ ...shared, entryPoints: [`test/support/${name}.ts`], outfile, banner });
  chmodSync(outfile, 0o755);
  return outfile;
}

/** Calls a function of a file of test/support, without arguments. */
export async function callSupport(name, exported) {
  mkdirSync(path.join(root, "out"), { recursive: true });
  const work = mkdtempSync(path.join(root, "out/support-"));
  try {
    const bundle = createRequire(import.meta.url)(await bundleSupport(name, work));
    await bundle[exported]();
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
