// What every bench of tokens starts from: the helpers of test/support and the product, bundled for node.
import path from "node:path";
import { build } from "esbuild";

export const root = path.resolve(import.meta.dirname, "..");

/** Call it first: it also makes the repository the current folder. */
export async function loadSupport() {
  process.chdir(root);
  await build({
    entryPoints: { support: "bench/tokens/support.ts" },
    outdir: "out/bench",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    define: { "import.meta.dirname": JSON.stringify(path.join(root, "test/support")) },
    logLevel: "error",
  });
  return import(path.resolve("out/bench/support.mjs"));
}

/** A table in Markdown, ready to be pasted. */
export function table(title, rows) {
  const widths = rows[0].map((_, column) => Math.max(3, ...rows.map((row) => String(row[column]).length)));
  const line = (row) => `| ${row.map((cell, i) => String(cell).padEnd(widths[i])).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  console.log([`${title}\n`, line(rows[0]), rule, ...rows.slice(1).map(line), ""].join("\n"));
}

export const fixed = (value, digits = 1) => value.toFixed(digits);
export const times = (more, less) => `${fixed(more / less)}x`;
