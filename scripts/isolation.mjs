// Keeps the tests from what else is on this machine: its processes and ports, GPUs and their tools, an installed llama.cpp, the
// user's home, settings, language and proxies. Namespaces of the kernel do the first; they need Linux and a right that not
// every machine gives, so their absence is said and the rest is done all the same.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import path from "node:path";
import { cacheFolder } from "./cache.mjs";
import { findProgram } from "./systemPackages.mjs";

/**
 * @typedef {{
 *   before: readonly string[],             what a program is started with
 *   env: Readonly<Record<string, string>>,  all of its environment
 * }} Isolation
 */

/**
 * @param {{
 *   temporary: string,    an empty folder of the run's own
 *   fetches?: boolean,    what runs in it downloads something: it keeps the network, its proxies and the desktop
 *   from?: NodeJS.ProcessEnv,
 * }} options
 * @returns {Isolation}
 */
export function isolation({ temporary, fetches = false, from = process.env }) {
  const env = { ...kept(from, fetches), ...ownFolders(temporary), ...fixed() };
  env.PATH = cleanedPath(from.PATH ?? from.Path ?? "", path.join(temporary, "path"));
  return { env, before: fetches ? [] : (kernelNamespaces().before ?? []) };
}

/** Why what runs in it sees the machine's processes and ports; undefined where it does not. */
export function whyNotApart({ fetches = false }) {
  return fetches ? "it needs the network" : kernelNamespaces().problem;
}

/** Everything else a test's environment holds would be this user's or this machine's. */
const always =
  /^(TERM|COLORTERM|NO_COLOR|FORCE_COLOR|CI|TZ|USER|LOGNAME|CHROMIUM|LLAMA_CPP_DIR|LLAMA_GAUGE_\w+)$/;
const ofWindows =
  /^(SystemRoot|SystemDrive|windir|ComSpec|PATHEXT|OS|NUMBER_OF_PROCESSORS|PROCESSOR_\w+|Program\w+|CommonProgram\w+|USERNAME|PUBLIC)$/i;
const ofDownloads =
  /^(\w+_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS)$/i;

function kept(from, fetches) {
  const patterns = [
    always,
    ...(process.platform === "win32" ? [ofWindows] : []),
    ...(fetches ? [ofDownloads] : []),
  ];
  return Object.fromEntries(
    Object.entries(from).filter(([name]) => patterns.some((pattern) => pattern.test(name))),
  );
}

function ownFolders(temporary) {
  const home = path.join(temporary, "home");
  mkdirSync(home, { recursive: true });
  const folders = { HOME: home, TMPDIR: temporary, LLAMA_GAUGE_CACHE: cacheFolder() };
  if (process.platform !== "win32") return folders;
  return {
    ...folders,
    USERPROFILE: home,
    APPDATA: home,
    LOCALAPPDATA: home,
    TEMP: temporary,
    TMP: temporary,
  };
}

function fixed() {
  return {
    LANG: process.platform === "darwin" ? "en_US.UTF-8" : "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
    // where there are proxies: none for the tests' own servers
    NO_PROXY: "127.0.0.1,localhost,::1",
    no_proxy: "127.0.0.1,localhost,::1",
    ...(process.platform !== "win32" && { SHELL: existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh" }),
  };
}

/** Programs that tests name by their whole path, or stand-ins of which they put on the PATH. */
const foreign = /^(llama(-.+)?|ollama|nvidia-smi|rocm-smi|amd-smi|xpu-smi)$/;

/** The PATH without those: a folder that holds one is replaced by one of links to everything else in it. */
function cleanedPath(searchPath, folder) {
  // links need a right there
  if (process.platform === "win32") return searchPath;
  const folders = searchPath.split(path.delimiter).filter((name) => name !== "" && isFolder(name));
  return folders
    .map((name, index) => withoutForeign(name, path.join(folder, String(index))))
    .join(path.delimiter);
}

function withoutForeign(folder, copy) {
  const names = readdirSync(folder);
  if (!names.some((name) => foreign.test(name))) return folder;
  mkdirSync(copy, { recursive: true });
  for (const name of names.filter((name) => !foreign.test(name))) {
    symlinkSync(path.join(folder, name), path.join(copy, name));
  }
  return copy;
}

function isFolder(name) {
  try {
    return statSync(name).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Makes the loopback interface and hides graphics cards, llama.cpp's settings for all users and Ollama's models. The shell
 * stays: it collects processes that nobody waits for.
 */
const inside = `PATH="$PATH:/usr/sbin:/sbin" ip link set lo up || exit 125
for place in /sys/class/drm /dev/dri /etc/llama.cpp /usr/share/ollama /var/lib/ollama; do
  if [ -d "$place" ]; then mount -t tmpfs none "$place" || exit 125; fi
done
`;

/** @type {{ before?: readonly string[], problem?: string } | undefined} */
let namespaces;

/** What starts a program with processes, ports and mounts of its own, as the same user; else why that cannot be. */
function kernelNamespaces() {
  namespaces ??= triedNamespaces();
  return namespaces;
}

function triedNamespaces() {
  if (process.platform !== "linux") return { problem: `there are no namespaces on ${process.platform}` };
  const unshare = findProgram(["unshare"]);
  const setpriv = findProgram(["setpriv"]);
  if (unshare === undefined || setpriv === undefined) return { problem: "unshare or setpriv is missing" };
  const root = process.getuid() === 0;
  const before = [
    ...[unshare, ...(root ? [] : ["--user", "--map-current-user", "--keep-caps"])],
    ...["--pid", "--mount-proc", "--net", "--fork", "--kill-child", "--"],
    ...["/bin/sh", "-c", `${inside}"$@"\nexit $?`, "sh"],
    ...(root ? [] : [setpriv, "--ambient-caps=-all", "--inh-caps=-all", "--"]),
  ];
  const [program, ...args] = before;
  const tried = spawnSync(program, [...args, "true"], { encoding: "utf8", timeout: 10_000 });
  if (tried.status === 0) return { before };
  const why = tried.error?.message ?? tried.stderr.trim().split("\n")[0];
  return { problem: `this user may not make namespaces here (${why || "unshare failed"})` };
}
