import { say, type Text } from "../text";

/** Files a prompt is usually better without, by why. */
export type FileKind =
  | "lock" // resolved dependency versions
  | "generated"
  | "minified"
  | "vendored" // someone else's code, kept here
  | "data"
  | "locale" // translations
  | "test"
  | "duplicate"; // nearly the same as another file

export interface FileMark {
  readonly kind: FileKind;
  /** What it was told by. */
  readonly evidence: Text;
}

/**
 * How little is lost with a file of the kind, 0 (nothing) to 1 (an ordinary source file, no mark). Only the order matters:
 * it decides what is dropped first.
 */
export function worthOf(kind: FileKind | undefined): number {
  return kind === undefined ? 1 : worths[kind];
}

const worths: Record<FileKind, number> = {
  lock: 0,
  minified: 0.1,
  duplicate: 0.2,
  generated: 0.2,
  vendored: 0.3,
  data: 0.4,
  locale: 0.5,
  test: 0.7,
};

/** Kinds in the order they are given up, least worth first. */
export const fileKinds = Object.keys(worths).filter(isFileKind);

export function isFileKind(value: unknown): value is FileKind {
  return typeof value === "string" && Object.hasOwn(worths, value);
}

const lockNames = new Set([
  ...["package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"],
  ...[
    "deno.lock",
    "Cargo.lock",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
    "Pipfile.lock",
    "pixi.lock",
    "conda-lock.yml",
  ],
  ...["Gemfile.lock", "composer.lock", "mix.lock", "pubspec.lock", "Podfile.lock", "Cartfile.resolved"],
  ...["Package.resolved", "packages.lock.json", "project.assets.json", "paket.lock", "go.sum", "go.work.sum"],
  ...["flake.lock", "gradle.lockfile", "buildscript-gradle.lockfile", "MODULE.bazel.lock", "stack.yaml.lock"],
  ...[
    "cabal.project.freeze",
    "elm-stuff",
    "rebar.lock",
    "gleam.toml.lock",
    "Chart.lock",
    ".terraform.lock.hcl",
  ],
  ...["shard.lock", "spago.lock", "Manifest.toml"],
]);

const vendoredFolders = new Set([
  ...["node_modules", "vendor", "vendored", "third_party", "third-party", "thirdparty", "3rdparty", "extern"],
  ...["external", "bower_components", "jspm_packages", "site-packages", "Pods", "Carthage", ".yarn"],
]);

const generatedFolders = new Set(["__generated__", "generated", "gen", "autogen", "__snapshots__"]);

const generatedNames = [
  /\.(pb|pb2|pb_grpc)\.[a-z]+$/,
  /_pb2(_grpc)?\.pyi?$/,
  /\.pb\.(go|cc|h|swift|dart)$/,
  /\.(g|freezed|gr|config)\.dart$/,
  /\.(designer|g|g\.i|generated)\.(cs|vb)$/i,
  /[._-](generated|autogen)\.[a-z0-9.]+$/i,
  /\.d\.ts\.map$|\.(js|mjs|cjs|css)\.map$/,
  /\.snap$/,
  /^zz_generated\.|_gen\.go$|_string\.go$/,
  /\.tsbuildinfo$/,
];

const minifiedNames = /[.-]min\.(js|mjs|cjs|css|html)$|\.(bundle|chunk)\.(js|css)$/i;

const dataExtensions = new Set([
  ...[
    "csv",
    "tsv",
    "jsonl",
    "ndjson",
    "geojson",
    "topojson",
    "svg",
    "ipynb",
    "log",
    "sql",
    "parquet",
    "arff",
  ],
  ...[
    "xlf",
    "xliff",
    "pem",
    "crt",
    "eps",
    "ps",
    "obj",
    "stl",
    "gltf",
    "hex",
    "srec",
    "har",
    "bib",
    "ttl",
    "nt",
  ],
]);

const localeExtensions = new Set(["po", "pot", "arb", "resx", "strings", "xlf", "xliff", "ftl"]);
const localeFolders = new Set([
  "locale",
  "locales",
  "i18n",
  "l10n",
  "lang",
  "langs",
  "translations",
  "_locales",
]);
const languageTag = /^[a-z]{2,3}([-_](?:[A-Z][a-z]{3}|[A-Z]{2}|[a-z]{2}|\d{3}))*$/;

const testFolders = new Set([
  "test",
  "tests",
  "__tests__",
  "spec",
  "specs",
  "testdata",
  "fixtures",
  "__fixtures__",
  "__mocks__",
]);
const testNames =
  /[._-](test|tests|spec)\.[a-z0-9]+$|^test_.*\.py$|_test\.(go|py|rb|exs|cc|cpp|c|dart)$|(Test|Tests|Spec)\.(java|kt|scala|cs|swift|groovy|php)$/;

/** What the path alone tells. @param label relative, `/`-separated. */
export function kindOfName(label: string): FileMark | undefined {
  const parts = label.split("/");
  const name = parts.at(-1) ?? "";
  const folders = parts.slice(0, -1);
  const extension = name.slice(name.lastIndexOf(".") + 1).toLowerCase();

  if (lockNames.has(name)) return { kind: "lock", evidence: say`${name} is a lock file.` };
  const vendored = folders.find((folder) => vendoredFolders.has(folder));
  if (vendored !== undefined) return { kind: "vendored", evidence: say`It is in ${`${vendored}/`}.` };
  if (minifiedNames.test(name))
    return { kind: "minified", evidence: say`Its name ends like that of a minified file.` };
  if (generatedNames.some((pattern) => pattern.test(name))) {
    return { kind: "generated", evidence: say`Its name is typical of generated files.` };
  }
  const generated = folders.find((folder) => generatedFolders.has(folder));
  if (generated !== undefined) return { kind: "generated", evidence: say`It is in ${`${generated}/`}.` };
  const locale = localeEvidence(name, extension, folders);
  if (locale !== undefined) return { kind: "locale", evidence: locale };
  const test = folders.find((folder) => testFolders.has(folder));
  if (test !== undefined) return { kind: "test", evidence: say`It is in ${`${test}/`}.` };
  if (testNames.test(name)) return { kind: "test", evidence: say`Its name is that of a test.` };
  if (dataExtensions.has(extension))
    return { kind: "data", evidence: say`Files ending in .${extension} contain data.` };
  return undefined;
}

function localeEvidence(name: string, extension: string, folders: readonly string[]): Text | undefined {
  if (localeExtensions.has(extension)) return say`Files ending in .${extension} contain translations.`;
  if (!["json", "yml", "yaml", "ts", "js", "properties", "toml"].includes(extension)) return undefined;
  const at = folders.findIndex((folder) => localeFolders.has(folder));
  if (at < 0) return undefined;
  const tagged = [...folders.slice(at + 1), name.slice(0, name.indexOf("."))].some((part) =>
    languageTag.test(part),
  );
  return tagged ? say`It is in ${`${folders[at] ?? ""}/`} and named after a language.` : undefined;
}
