// What the extension imports with `import()` goes into a bundle of its own, dist/extensionParts.js: VS Code reads and
// compiles a bundle as a whole when it starts the extension, also the nine tenths of it that are not needed then.
//
// Not `format: "esm", splitting: true`, which VS Code loads since 1.100: its 11 first files and the hooks through which the
// editor answers `import "vscode"` cost more than one bundle. Processor time until the shipped entry is loaded, medians of
// alternating runs on 2026-12-01: 12.4 → 25.1 ms with Node.js 20 and hooks in a thread of their own (VS Code 1.100),
// 12.3 → 19.2 ms with Node.js 24 and hooks in the same thread (the newest).
import path from "node:path";

const bundleName = "extensionParts";

/** Rooms whose modules hold no state that the extension's own bundle shares. */
const movable = /^(src\/(core|node|app)\/|node_modules\/)/;

/**
 * Two programs: the extension, and its parts, which are known once the extension was built.
 * @param {import("esbuild").BuildOptions & { absWorkingDir: string }} options of the extension's bundle
 * @returns {{ extension: import("esbuild").BuildOptions, parts: import("esbuild").BuildOptions }}
 */
export function lazyPrograms(options) {
  const parts = new Set();
  const entry = () => ({
    contents: `module.exports = {\n${[...parts].sort().map(line).join("\n")}\n};`,
    resolveDir: options.absWorkingDir,
  });
  return {
    extension: { ...options, plugins: [moveParts(options.absWorkingDir, parts)] },
    parts: { ...options, entryPoints: [bundleName], plugins: [virtualFile(bundleName, entry)] },
  };
}

const line = (file) => `${JSON.stringify(file)}: () => require(${JSON.stringify(`./${file}`)}),`;

function virtualFile(name, content) {
  return {
    name,
    setup({ onResolve, onLoad }) {
      onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: name, namespace: name }));
      onLoad({ filter: /./, namespace: name }, content);
    },
  };
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
