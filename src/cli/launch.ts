import path from "node:path";
import { InvalidArgumentError, type Command } from "commander";
import { launchOptions } from "../app/launchArguments";
import { parseArguments } from "../core/launch/commandLine";
import { formatText } from "../core/format";
import type { LaunchOptions } from "../core/launch/launchOptions";
import { optionOfFlag } from "../core/launch/serverOptions";
import { isReadableByOthers } from "../core/servers/serverAddress";
import type { MemoryDevice } from "../core/memory/devices/memoryDevice";
import { append } from "../core/lists";
import { say } from "../core/text";
import { UserError } from "../core/userError";
import type { DiscoveryOptions } from "../node/llamaServer/serverDiscovery";
import { launchedModelFile } from "../node/gguf/launchedModel";
import { findLlamaProgram } from "../node/machine/llamaPrograms";
import type { CliContext } from "./command";
import { byteCount } from "./arguments";
import { exitCode, printError } from "./output";

/** The options after `--`, with what the system and its variables set. Problems llama-server would have go to stderr. */
export function givenLaunch({
  serverArguments,
  finish,
}: Pick<CliContext, "serverArguments" | "finish">): Promise<LaunchOptions> {
  return launchOptions(serverArguments, ({ severity, message, argument = -1, variable = "" }) => {
    const names = [argument, argument - 1].map((at) => optionOfFlag(serverArguments[at] ?? "")?.option.name);
    const isCacheType = [...names, variable].some((name) =>
      /^(?:--cache-type-|LLAMA_ARG_CACHE_TYPE_)[kv]$/i.test(name ?? ""),
    );
    if (severity === "error" && isCacheType) {
      throw new UserError(
        "invalidInput",
        message,
        say`Use one of these: figures of another type would be wrong.`,
      );
    }
    printError(`${severity}: ${formatText(message)}`);
    // what llama-server refuses is answered as if it were not there, but never as if all were well
    if (severity === "error") finish(exitCode.badInput);
  });
}

/** How llama-server is told its model. These may also stand before `--`, where `-hf` would otherwise ask for help. */
const modelFlags: ReadonlySet<string> = new Set([
  ...["-m", "-mu", "--model-url"],
  ...["-hf", "-hfr", "--hf-repo", "-hff", "--hf-file"],
]);

/** The command's own arguments, and llama-server's. */
export function splitArguments(argv: readonly string[]): {
  readonly own: readonly string[];
  readonly serverArguments: readonly string[];
} {
  const cut = argv.indexOf("--");
  const before = cut < 0 ? argv : argv.slice(0, cut);
  const own: string[] = [];
  const serverArguments: string[] = [];
  for (let at = 0; at < before.length; at++) {
    const argument = before[at] ?? "";
    if (modelFlags.has(argument)) append(serverArguments, before.slice(at, ++at + 1));
    else own.push(argument);
  }
  return { own, serverArguments: cut < 0 ? serverArguments : [...serverArguments, ...argv.slice(cut + 1)] };
}

/**
 * The model a command is about: `--model`, else the one llama-server's arguments name. A file, or an address whose header
 * is enough.
 * @throws UserError where two are named, or the one that is named cannot be found
 */
export async function namedModel(
  own: string | undefined,
  context: Pick<CliContext, "serverArguments" | "finish" | "signal">,
): Promise<string | undefined> {
  if (context.serverArguments.length === 0) return own;
  const launch = await givenLaunch(context);
  if (own === undefined) return launchedModelFile(launch, context.signal);
  const { model, modelUrl, hfRepo } = parseArguments(context.serverArguments).options;
  const other = model ?? hfRepo ?? modelUrl;
  if (other === undefined) return own;
  throw new UserError(
    "invalidInput",
    say`Two models are named: ${own} and ${other}.`,
    say`Name one of them.`,
  );
}

/** @throws UserError where none is named */
export function theModel(named: string | undefined): string {
  if (named !== undefined) return named;
  throw new UserError(
    "invalidInput",
    say`No model is specified.`,
    say`Name it as for llama-server: -m M.gguf, -hf owner/name or -mu URL.`,
  );
}

export interface ProgramFlags {
  readonly llamaCpp?: string;
}

/** Adds the option that says which llama.cpp is asked. */
export function withPrograms(command: Command): Command {
  return command.option("--llama-cpp <folder>", "folder of llama.cpp's programs, instead of PATH");
}

/** @throws UserError where the folder that is named holds none */
export async function programsOf({ llamaCpp }: ProgramFlags): Promise<{ readonly folder?: string }> {
  if (llamaCpp === undefined) return {};
  const folder = path.resolve(llamaCpp);
  if ((await findLlamaProgram("llama-server", folder)) !== undefined) return { folder };
  throw new UserError(
    "notFound",
    say`llama-server was not found in ${folder}.`,
    say`Set --llama-cpp to the folder of llama.cpp's programs.`,
  );
}

export function device(text: string, before: readonly MemoryDevice[]): readonly MemoryDevice[] {
  const [, name = "", size = ""] = /^(.+)=(.+)$/.exec(text) ?? [];
  if (name === "") throw new InvalidArgumentError("NAME=BYTES is needed, for example CUDA0=24GiB.");
  return [...before, { name, freeBytes: byteCount(size) }];
}

const warnedOf = new Set<string>();

/** A key never goes into an argument, where other processes could read it. */
export function serverAccess(url: string): { readonly url: string; readonly apiKey?: string } {
  const apiKey = process.env["LLAMA_API_KEY"];
  if (apiKey === undefined || apiKey === "") return { url };
  if (isReadableByOthers(url) && !warnedOf.has(url)) {
    warnedOf.add(url);
    printError(`the API key is sent to ${url} without encryption: others in the network can read it.`);
  }
  return { url, apiKey };
}

/** The server that is named, and no other one. */
export function namedServer(url: string): DiscoveryOptions {
  const { url: configured, ...key } = serverAccess(url);
  return { configured, ...key };
}
