// Bundles the programs of the product into dist/. `--watch` rebuilds on change, `--production` minifies.
import { build, context } from "esbuild";
import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { lazyPrograms } from "./lazyParts.mjs";

const root = path.join(import.meta.dirname, "..");
const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));

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
  const { extension, parts } = lazyPrograms({
    ...node,
    entryPoints: { extension: "src/extension.ts" },
    external: ["vscode"],
  });
  return [
    extension,
    parts,
    { ...node, entryPoints: { languageServer: "src/languageServer/main.ts" } },
    { ...node, entryPoints: { worker: "src/node/tokenizer/worker.ts" } },
    { ...node, entryPoints: { templateWorker: "src/node/template/worker.ts" } },
    {
      ...node,
      entryPoints: { cli: "src/cli.ts" },
      banner: { js: "#!/usr/bin/env node" },
      define: { "process.env.LLAMA_GAUGE_VERSION": JSON.stringify(version) },
    },
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
  const [extension, ...others] = programs({ production, outdir }).map((program) => ({
    ...program,
    write: false,
  }));
  const results = [await build(extension), ...(await Promise.all(others.map((program) => build(program))))];
  for (const file of results.flatMap(({ outputFiles }) => outputFiles)) putInPlace(file);
  return [...new Set(results.flatMap(({ metafile }) => Object.keys(metafile.inputs)))];
}

/** Whole, and only where it has changed: what is built may be in use. */
function putInPlace({ path: file, contents }) {
  if (existsSync(file) && readFileSync(file).equals(contents)) return;
  mkdirSync(path.dirname(file), { recursive: true });
  const partial = `${file}.${randomUUID()}.partial`;
  writeFileSync(partial, contents);
  if (path.basename(file) === "cli.js") chmodSync(partial, 0o755);
  renameSync(partial, file);
}

async function watch() {
  const [extension, ...others] = programs({ production: false, outdir: "dist" });
  // the parts are known once the extension was built
  for (const program of [extension, ...others]) {
    const watched = await context({ ...program, logLevel: "info" });
    await watched.rebuild().catch(() => undefined);
    await watched.watch();
  }
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
