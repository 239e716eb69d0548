// What the extension imports with `import()` goes into a bundle of its own, dist/extensionParts.js: VS Code reads and
// compiles a bundle as a whole when it starts the extension, also the nine tenths of it that are not needed then.
import { build } from "esbuild";
import path from "node:path";

const bundleName = "extensionParts";

/** Rooms whose modules hold no state that the extension's own bundle shares. */
const movable = /^(src\/(core|node)\/|node_modules\/)/;

/**
 * Builds the extension and its parts.
 * @param {import("esbuild").BuildOptions & { absWorkingDir: string }} options of the extension's bundle
 * @returns {Promise<import("esbuild").BuildResult[]>}
 */
export async function buildWithLazyParts(options) {
  const parts = new Set();
  const extension = await build({ ...options, plugins: [moveParts(options.absWorkingDir, parts)] });
  const lines = [...parts]
    .sort()
    .map((file) => `${JSON.stringify(file)}: () => require(${JSON.stringify(`./${file}`)}),`);
  const entry = {
    contents: `module.exports = {\n${lines.join("\n")}\n};`,
    resolveDir: options.absWorkingDir,
  };
  const shared = { ...options, stdin: { ...entry, sourcefile: `${bundleName}.js` } };
  delete shared.entryPoints;
  delete shared.outdir;
  const outfile = path.join(options.outdir, `${bundleName}.js`);
  return [extension, await build({ ...shared, outfile })];
}

function moveParts(root, parts) {
  const ours = {};
  return {
    name: "lazy parts",
    setup({ onResolve, onLoad, resolve }) {
      onResolve({ filter: /./ }, async ({ kind, path: specifier, resolveDir, pluginData }) => {
        if (specifier === `./${bundleName}.js`) return { path: specifier, external: true };
        if (kind !== "dynamic-import" || pluginData === ours) return undefined;
        const found = await resolve(specifier, { kind, resolveDir, pluginData: ours });
        const file = path.relative(root, found.path).replaceAll(path.sep, "/");
        if (found.errors.length > 0 || found.external || !movable.test(file)) return undefined;
        parts.add(file);
        return { path: file, namespace: bundleName };
      });
      onLoad({ filter: /./, namespace: bundleName }, ({ path: file }) => ({
        contents: `module.exports = require("./${bundleName}.js")[${JSON.stringify(file)}]();`,
        resolveDir: root,
      }));
    },
  };
}
