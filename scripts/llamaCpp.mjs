// Finds a real llama.cpp, or unpacks Debian's into the project's cache. Run directly it prints the programs' folder.
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { cachedFolder } from "./cache.mjs";
import { main, run, ScriptError } from "./run.mjs";

export const programs = ["llama-server", "llama-bench", "llama-fit-params", "llama-tokenize"];
/** Used where they are there: devices over RPC, toy models of every architecture. */
export const extraPrograms = ["ggml-rpc-server", "test-llama-archs"];

// everything they need down to their own C library, because they are built for a newer Debian than the one below
const debianPackages = [
  ...[
    "llama.cpp-tools",
    "llama.cpp-tools-extra",
    "llama.cpp-tests",
    "libllama0",
    "libggml0",
    "libggml0-backend-rpc",
  ],
  ...["libc6", "libstdc++6", "libgcc-s1", "libgomp1", "libssl3t64", "zlib1g", "libzstd1"],
];
const suite = "sid";
/** Counts up whenever the unpacked folder is arranged differently, so that older caches are left alone. */
const layout = 1;

/**
 * The folder with llama.cpp's programs: LLAMA_CPP_DIR (it, its `bin` or its `build/bin`), else Debian's, whatever is installed;
 * the PATH's where Debian's cannot be had.
 * @param {{ say?: (line: string) => void }} [options]
 * @returns {Promise<{ folder: string, version: string }>}
 */
export async function llamaCpp({ say = () => undefined } = {}) {
  const folder = fromEnvironment() ?? (await fromDebian(say).catch(fromPath));
  return { folder, version: await versionOf(folder) };
}

function fromEnvironment() {
  const named = process.env.LLAMA_CPP_DIR;
  if (!named) return undefined;
  const folder = [named, path.join(named, "bin"), path.join(named, "build", "bin")].find(isComplete);
  if (folder) return path.resolve(folder);
  throw new ScriptError(`LLAMA_CPP_DIR=${named} does not hold ${missingIn(named).join(", ")}.`);
}

function fromPath(otherwise) {
  const folder = (process.env.PATH ?? "").split(path.delimiter).filter(Boolean).find(isComplete);
  if (folder === undefined) throw otherwise;
  return folder;
}

function isComplete(folder) {
  return missingIn(folder).length === 0;
}

function missingIn(folder) {
  const suffix = process.platform === "win32" ? ".exe" : "";
  return programs.filter((name) => !isExecutable(path.join(folder, name + suffix)));
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function versionOf(folder) {
  // the version goes to stderr in some builds and to stdout in others
  const text = await run("sh", ["-c", '"$0" --version 2>&1', path.join(folder, "llama-server")], {
    timeoutMs: 60_000,
    what: "llama-server --version",
  });
  return /^version: *(.+)$/m.exec(text)?.[1] ?? "unknown";
}

const advice =
  "Install llama.cpp yourself and name its folder in LLAMA_CPP_DIR, or put its programs on the PATH " +
  `(${programs.join(", ")}).`;

async function fromDebian(say) {
  const { arch, mirror } = await debian();
  const folder = await cachedFolder(`llama.cpp-debian-${suite}-${arch}-v${layout}`, async (folder) => {
    say(`Fetching llama.cpp from Debian ${suite} (once, 13 MB) …`);
    const packages = await download(path.join(folder, "apt"), mirror);
    const root = path.join(folder, "root");
    mkdirSync(root);
    for (const file of packages)
      await run("dpkg", ["-x", file, root], { what: `unpacking ${path.basename(file)}` });
    await run("rm", ["-rf", path.join(folder, "apt")]);
    writeWrappers(folder);
    await versionOf(path.join(folder, "bin"));
  });
  return path.join(folder, "bin");
}

/** This machine's architecture, and the mirror it already uses, so that no address is written here. */
async function debian() {
  const ask = (program, args) => run(program, args, { timeoutMs: 30_000 }).catch(() => "");
  const arch = (await ask("dpkg", ["--print-architecture"])).trim();
  const sites = await ask("apt-get", ["indextargets", "--format", "$(SITE)", "Created-By: Packages"]);
  const mirror = sites.split("\n").find((site) => /\/debian\/?$/.test(site));
  if (arch === "" || mirror === undefined) {
    throw new ScriptError(`No llama.cpp found, and this is no Debian to fetch one from. ${advice}`);
  }
  return { arch, mirror };
}

/** Downloads the packages with an apt of its own: nothing is installed, signatures and checksums are apt's. */
async function download(work, mirror) {
  for (const folder of ["lists/partial", "cache/archives/partial", "etc/preferences.d", "debs"]) {
    mkdirSync(path.join(work, folder), { recursive: true });
  }
  writeFileSync(path.join(work, "status"), "");
  const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
  writeFileSync(path.join(work, "etc/sources.list"), `deb [signed-by=${keyring}] ${mirror} ${suite} main\n`);
  const options = {
    "Dir::State::Lists": path.join(work, "lists"),
    "Dir::State::status": path.join(work, "status"),
    "Dir::Cache": path.join(work, "cache"),
    "Dir::Etc::sourcelist": path.join(work, "etc/sources.list"),
    "Dir::Etc::sourceparts": "-",
    "Dir::Etc::preferencesparts": path.join(work, "etc/preferences.d"),
    // apt's download user cannot write into the user's cache
    "APT::Sandbox::User": "root",
    "APT::Update::Error-Mode": "any",
    "Acquire::Retries": "2",
    "Acquire::http::Timeout": "30",
    "Acquire::Languages": "none",
  };
  const configuration = Object.entries(options).flatMap(([key, value]) => ["-o", `${key}=${value}`]);
  const apt = (...args) =>
    run("apt-get", [...configuration, "-qq", ...args], {
      cwd: path.join(work, "debs"),
      what: `apt-get ${args[0]}`,
    });
  try {
    await apt("update");
    await apt("download", ...debianPackages);
  } catch (error) {
    throw new ScriptError(
      `No llama.cpp found, and Debian's could not be fetched. ${advice}\n${error.message}`,
    );
  }
  return readdirSync(path.join(work, "debs")).map((file) => path.join(work, "debs", file));
}

/**
 * One small script per program in `bin/`, which runs it through its own loader. ggml looks for its backends beside the
 * running executable, which then is the loader, so they are linked there.
 */
function writeWrappers(folder) {
  const libParent = path.join(folder, "root/usr/lib");
  const triplet = readdirSync(libParent).find((name) => name.endsWith("-linux-gnu"));
  const lib = path.join(libParent, triplet);
  const loader = readdirSync(lib).find((name) => /^ld-linux.*\.so\.\d+$/.test(name));
  for (const backends of readdirSync(path.join(lib, "ggml"))) {
    for (const file of readdirSync(path.join(lib, "ggml", backends)).filter((name) => name.endsWith(".so"))) {
      symlinkSync(path.join("ggml", backends, file), path.join(lib, file));
    }
  }
  const bin = path.join(folder, "bin");
  mkdirSync(bin);
  for (const where of [
    "usr/bin",
    `usr/libexec/${triplet}/llama/bin`,
    `usr/libexec/${triplet}/llama.cpp-tests`,
  ]) {
    const from = path.join(folder, "root", where);
    if (!existsSync(from)) continue;
    for (const name of readdirSync(from).filter((name) => /^(llama-|ggml-|test-llama-archs$)/.test(name))) {
      writeFileSync(path.join(bin, name), wrapper(triplet, loader, where, name));
      chmodSync(path.join(bin, name), 0o755);
    }
  }
}

function wrapper(triplet, loader, where, name) {
  return `#!/bin/sh
here=$(dirname "$(dirname "$(realpath "$0")")")/root
lib=$here/usr/lib/${triplet}
exec "$lib/${loader}" --library-path "$lib:$lib/llama" --argv0 "${name}" "$here/${where}/${name}" "$@"
`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    const { folder, version } = await llamaCpp({ say: (line) => console.error(line) });
    console.error(`llama.cpp ${version}`);
    console.log(folder);
  });
}
