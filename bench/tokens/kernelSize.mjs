import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { fixed } from "../support.mjs";

/** What the kernel with its tables weighs. */
export async function kernelSize() {
  const { outputFiles } = await build({
    entryPoints: ["src/core/tokens/kernel/kernel.ts"],
    bundle: true,
    minify: true,
    format: "esm",
    target: "node20",
    write: false,
  });
  const code = outputFiles[0].contents;
  const gzipped = gzipSync(code, { level: 9 }).length;
  console.log(`kernel: ${fixed(code.length / 1024)} KiB minified, ${fixed(gzipped / 1024)} KiB gzipped`);
}
