// Bundles the five programs of the product into dist/. `--watch` rebuilds on change, `--production` minifies.
import { build, context } from "esbuild";

const production = process.argv.includes("--production");
const shared = {
  bundle: true,
  minify: production,
  sourcemap: production ? false : "linked",
  outdir: "dist",
  logLevel: "warning",
};
const node = { ...shared, platform: "node", target: "node20", format: "cjs" };

const programs = [
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

if (process.argv.includes("--watch")) {
  const contexts = await Promise.all(programs.map((program) => context({ ...program, logLevel: "info" })));
  await Promise.all(contexts.map((program) => program.watch()));
} else {
  await Promise.all(programs.map((program) => build(program)));
}
