import path from "node:path";
import { InvalidArgumentError, type Command } from "commander";
import { launchOptions } from "../app/launchArguments";
import { formatText } from "../core/format";
import type { LaunchOptions } from "../core/launch/launchOptions";
import { isReadableByOthers } from "../core/servers/serverAddress";
import type { MemoryDevice } from "../core/memory/devices/memoryDevice";
import { say } from "../core/text";
import { UserError } from "../core/userError";
import type { DiscoveryOptions } from "../node/llamaServer/serverDiscovery";
import { findLlamaProgram } from "../node/machine/llamaPrograms";
import type { CliContext } from "./command";
import { byteCount } from "./arguments";
import { exitCode, printError } from "./output";

/** The options after `--`, with what the system and its variables set. Problems llama-server would have go to stderr. */
export function givenLaunch({
  serverArguments,
  finish,
}: Pick<CliContext, "serverArguments" | "finish">): Promise<LaunchOptions> {
  return launchOptions(serverArguments, ({ severity, message }) => {
    printError(`${severity}: ${formatText(message)}`);
    // what llama-server refuses is answered as if it were not there, but never as if all were well
    if (severity === "error") finish(exitCode.badInput);
  });
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
