// Bundles the TypeScript that runs outside of Vitest: test suites for the extension host, the stand-in for VS Code's
// executable, and the helpers that `npm start` uses.
import { build } from "esbuild";
import { chmodSync, readdirSync, rmSync } from "node:fs";
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
  // a bundle stays in the checkout and finds its own place there
  define: { "import.meta.dirname": "__dirname" },
  // must be the copies that are loaded anyway, or load files of their own
  external: ["vscode", "mocha", "playwright-core"],
};

/**
 * Bundles the `*.test.ts` files of a folder, one by one, with the entry that runs them in the extension host.
 * @returns {Promise<string>} the entry, for VS Code's extensionTestsPath
 */
export async function bundleSuite(folder) {
  const entryPoints = { index: "test/editor/index.ts" };
  for (const name of readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".test.ts")) entryPoints[name.slice(0, -".ts".length)] = path.join(folder, name);
  }
  const outdir = path.join("out", folder);
  rmSync(path.join(root, outdir), { recursive: true, force: true });
  await build({ ...shared, entryPoints, outdir });
  return path.join(root, outdir, "index.js");
}

/** Bundles one file of test/support for a script; `executable` makes it a program of its own. Returns the bundle. */
export async function bundleSupport(name, { executable = false } = {}) {
  const outdir = "out/support";
  await build({
    ...shared,
    entryPoints: { [name.replaceAll("/", "-")]: `test/support/${name}.ts` },
    outdir,
    ...(executable && { banner: { js: "#!/usr/bin/env node" } }),
  });
  const file = path.join(root, outdir, `${name.replaceAll("/", "-")}.js`);
  if (executable) chmodSync(file, 0o755);
  return file;
}
