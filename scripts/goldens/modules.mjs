// What is in each bundle, by names that a move of files leaves as they are.
import { transform } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { buildProduct } from "../build.mjs";
import { root } from "../testBundles.mjs";

/**
 * One list per bundle, from its source map, and `code.txt`: a hash of each module's code with its imports named by their
 * last part, so that only modules whose code was changed differ.
 */
export async function modules(folder) {
  const dist = mkdtempSync(path.join(os.tmpdir(), "gauge-modules-"));
  try {
    await buildProduct({ outdir: dist });
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(dist).filter((file) => file.endsWith(".js.map"))) {
      const { sources } = JSON.parse(readFileSync(path.join(dist, name), "utf8"));
      const lines = sources.map((source) => moduleName(source, dist)).sort();
      writeFileSync(path.join(folder, `${name.slice(0, -".js.map".length)}.txt`), `${lines.join("\n")}\n`);
    }
    writeFileSync(path.join(folder, "code.txt"), `${(await codeHashes()).join("\n")}\n`);
  } finally {
    rmSync(dist, { recursive: true, force: true });
  }
}

/** Packages in full; ours without folders, those that are loaded from another bundle marked as such. */
function moduleName(source, dist) {
  const lazy = source.includes("extensionParts:");
  const file = lazy ? source : path.relative(root, path.resolve(dist, source)).replaceAll(path.sep, "/");
  const packaged = /(node_modules\/.*)$/.exec(file)?.[1];
  return `${lazy ? "lazy " : ""}${packaged ?? path.posix.basename(file)}`;
}

async function codeHashes() {
  const src = path.join(root, "src");
  const found = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  const lines = await Promise.all(
    found.map(async (file) => {
      const { code } = await transform(readFileSync(path.join(src, file), "utf8"), { loader: "ts" });
      const named = code
        .replaceAll(/((?:from|import)\s*\(?\s*)"\.[^"]*?([^/"]+)"/g, '$1"$2"')
        // broken into lines or not, by the length of the path
        .replaceAll(/^import \{[^}]*\}/gm, (names) => names.replaceAll(/\s+/g, " "));
      // sorted: tools that move files also sort imports
      const [imports, rest] = [[], []];
      for (const line of named.split("\n"))
        (/^import\b.*\bfrom\b|^import "/.test(line) ? imports : rest).push(line);
      const hash = createHash("sha256")
        .update([...imports.sort(), ...rest].join("\n"))
        .digest("hex");
      return `${path.basename(file)} ${hash.slice(0, 16)}`;
    }),
  );
  return lines.sort();
}
