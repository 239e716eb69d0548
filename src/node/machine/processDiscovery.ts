import { readFile, readlink } from "node:fs/promises";
import { runningServers, type ListedProcess, type RunningServer } from "../../core/servers/runningServers";
import { isLocal, portOf } from "../../core/servers/serverAddress";
import { splitCommandLine } from "../../core/scripts/splitCommandLine";
import { isSecretVariable } from "../../core/launch/maskSecrets";
import { seconds, say } from "../../core/text";
import { UserError } from "../../core/userError";
import { TimeLimitError, within } from "../waiting/within";
import { systemOptions } from "./systemOptions";

/** A look at all processes takes a fraction of a second; on a busy Windows some. */
const limitSeconds = 10;

/**
 * The llama-servers running on this machine (of all users the system shows), with their command lines.
 * @throws UserError when the system does not show its processes in time
 */
export async function runningLlamaServers(signal: AbortSignal): Promise<readonly RunningServer[]> {
  signal.throwIfAborted();
  const processes = await withinLimit(listProcesses(), signal);
  const candidates = processes.filter(({ argv }) => argv.some((word) => /llama/i.test(word)));
  const exact = process.platform === "linux" ? await Promise.all(candidates.map(exactProcess)) : candidates;
  signal.throwIfAborted();
  return runningServers(exact.filter((listed) => listed !== undefined));
}

/** The llama-server of this machine that answers at an address, by its command line; undefined where none is seen. */
export async function serverProcessAt(url: string, signal: AbortSignal): Promise<RunningServer | undefined> {
  if (!isLocal(url)) return undefined;
  const running = await runningLlamaServers(signal);
  return running.find(({ urls }) => urls.some((its) => portOf(its) === portOf(url)));
}

/** That process, and those of a router's models: they hold what was loaded. */
export async function serverPidsAt(url: string, signal: AbortSignal): Promise<readonly number[]> {
  if (!isLocal(url)) return [];
  const running = await runningLlamaServers(signal);
  const answers = running.find(
    ({ role, urls }) => role !== "routersChild" && urls.some((its) => portOf(its) === portOf(url)),
  );
  if (answers === undefined) return [];
  const children = running.filter(({ routerPid }) => routerPid === answers.pid);
  return [answers, ...children].map(({ pid }) => pid);
}

async function listProcesses(): Promise<readonly ListedProcess[]> {
  const { processes } = await import("systeminformation");
  const { list } = await processes();
  return list.map(({ pid, parentPid, command, params, path, started }) => ({
    pid,
    parentPid,
    argv: argvOf(command, params, path),
    ...(started === "" ? {} : { started }),
  }));
}

/** systeminformation cuts the command line apart differently on each system. */
function argvOf(command: string, params: string, path: string): string[] {
  const shell = process.platform === "win32" ? "cmd" : "posix";
  if (process.platform === "win32") {
    const words = splitCommandLine(command, shell);
    return words.length > 1 || path === "" ? words : [path, ...splitCommandLine(params, shell)];
  }
  // quotes are lost in a process list, so blanks are all that separates
  return [command, ...params.split(" ").filter((word) => word !== "")];
}

/**
 * Linux shows arguments exactly, and folder and environment to the process's own user. Undefined where the process is
 * gone: systeminformation answers from a short memory.
 */
async function exactProcess(listed: ListedProcess): Promise<ListedProcess | undefined> {
  const folder = `/proc/${listed.pid}`;
  const [cmdline, environ, workingFolder] = await Promise.all([
    readFile(`${folder}/cmdline`, "utf8").catch(isGone),
    readFile(`${folder}/environ`, "utf8").catch(() => ""),
    readlink(`${folder}/cwd`).catch(() => undefined),
  ]);
  if (cmdline === undefined) return undefined;
  const variables = allVariables(environ);
  const home = { platform: "linux", home: variables["HOME"] ?? "", env: variables } as const;
  const argv = cmdline.split("\0");
  if (argv.at(-1) === "") argv.pop();
  return {
    ...listed,
    argv: argv.length > 0 ? argv : listed.argv,
    environment: relevantVariables(variables),
    // its own files, also where it runs in a container
    config: await systemOptions(home, `${folder}/root`),
    ...(workingFolder === undefined ? {} : { workingFolder }),
  };
}

function isGone(cause: unknown): "" | undefined {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return code === "ENOENT" || code === "ESRCH" ? undefined : "";
}

function allVariables(environ: string): Record<string, string> {
  return Object.fromEntries(
    environ.split("\0").flatMap((assignment) => {
      const equals = assignment.indexOf("=");
      return equals > 0 ? [[assignment.slice(0, equals), assignment.slice(equals + 1)]] : [];
    }),
  );
}

function relevantVariables(all: Readonly<Record<string, string>>): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(all)) {
    if (name.startsWith("LLAMA_ARG_")) variables[name] = value;
    // that there is one matters, its value does not
    else if (isSecretVariable(name)) variables[name] = "set";
  }
  return variables;
}

/** systeminformation cannot be cancelled; what comes too late is dropped. */
async function withinLimit<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await within(work, limitSeconds * 1000, signal);
  } catch (cause) {
    if (signal.aborted || cause instanceof UserError) throw cause;
    if (cause instanceof TimeLimitError) throw tooSlow();
    throw new UserError(
      "outsideFailed",
      say`The system does not list its processes.`,
      say`Set the server's address (llamaGauge.server.url).`,
      { cause },
    );
  }
}

function tooSlow(): UserError {
  return new UserError(
    "timeout",
    say`The list of processes was not available within ${seconds(limitSeconds)}.`,
    say`Set the server's address (llamaGauge.server.url).`,
  );
}
