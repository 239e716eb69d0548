// Bundles the programs of the product into dist/. `--watch` rebuilds on change, `--production` minifies.
import { build, context } from "esbuild";
import { chmodSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { buildWithLazyParts } from "./lazyParts.mjs";

const root = path.join(import.meta.dirname, "..");

function programs({ production, outdir }) {
  const shared = {
    absWorkingDir: root,
    bundle: true,
    minify: production,
    sourcemap: production ? false : "linked",
    metafile: true,
    legalComments: "none",
    outdir,
    logLevel: "warning",
  };
  const node = { ...shared, platform: "node", target: "node20", format: "cjs" };
  return [
    { ...node, entryPoints: { extension: "src/extension.ts" }, external: ["vscode"] },
    { ...node, entryPoints: { languageServer: "src/server/main.ts" } },
    { ...node, entryPoints: { worker: "src/node/worker.ts" } },
    { ...node, entryPoints: { cli: "src/cli.ts" }, banner: { js: "#!/usr/bin/env node" } },
    {
      ...shared,
      entryPoints: { webview: "src/webview/main.ts" },
      platform: "browser",
      target: "es2022",
      format: "iife",
    },
  ];
}

/** Builds once; resolves to the source files that went into the bundles, relative to the checkout. */
export async function buildProduct({ production = false, outdir = "dist" } = {}) {
  const [extension, ...others] = programs({ production, outdir });
  const results = await Promise.all([
    buildWithLazyParts(extension),
    ...others.map((program) => build(program)),
  ]);
  chmodSync(path.resolve(root, outdir, "cli.js"), 0o755);
  return [...new Set(results.flat().flatMap(({ metafile }) => Object.keys(metafile.inputs)))];
}

async function watch() {
  const contexts = await Promise.all(
    programs({ production: false, outdir: "dist" }).map((program) =>
      context({ ...program, logLevel: "info" }),
    ),
  );
  await Promise.all(contexts.map((program) => program.watch()));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    if (process.argv.includes("--watch")) await watch();
    else await buildProduct({ production: process.argv.includes("--production") });
  } catch (error) {
    // esbuild has shown its own errors already
    if (!Array.isArray(error.errors)) throw error;
    process.exitCode = 1;
  }
}
