import { findServerCommand } from "../scripts/serverCommand";
import { parseArguments } from "../launch/commandLine";
import { serverUrls } from "./runningServers";
import { serverAddressIn } from "./serverAddress";
import type { ServerAddress } from "./serverAddresses";
import { splitCommandLine, type Shell } from "../scripts/splitCommandLine";

/** Section of the settings of the extension ggml-org.llama-vscode. */
const llamaVscodeSection = "llama-vscode";

/** Those for prompts before the one for embeddings. */
const roles = ["tools", "chat", "completion", "embeddings"] as const;

/**
 * Where llama.vscode's servers may answer: its endpoints, then the ports of the commands it starts, then its lists of
 * models. `read` gives the raw value of a setting.
 */
export function llamaVscodeAddresses(read: (key: string) => unknown, shell: Shell): ServerAddress[] {
  const found: ServerAddress[] = [];
  const add = (typed: unknown, setting: string): void => {
    const url = typeof typed === "string" && typed.trim() !== "" ? serverAddressIn(typed) : undefined;
    if (url === undefined) return;
    found.push({ url, source: { kind: "llamaVscode", setting: `${llamaVscodeSection}.${setting}` } });
  };
  for (const role of roles) {
    const key = role === "completion" ? "endpoint" : `endpoint_${role}`;
    add(read(key), key);
  }
  for (const role of roles) {
    const key = `launch_${role}`;
    add(urlOfCommand(read(key), shell), key);
  }
  for (const role of roles) {
    const key = `${role}_models_list`;
    const list: unknown = read(key);
    if (!Array.isArray(list)) continue;
    for (const entry of list as readonly unknown[]) {
      if (typeof entry !== "object" || entry === null) continue;
      if ("endpoint" in entry) add(entry.endpoint, key);
      if ("localStartCommand" in entry) add(urlOfCommand(entry.localStartCommand, shell), key);
    }
  }
  return found;
}

/** Where the llama-server of a command line will answer; undefined where there is none. */
export function urlOfCommand(line: unknown, shell: Shell): string | undefined {
  if (typeof line !== "string" || line.length > 100_000) return undefined;
  const command = findServerCommand(splitCommandLine(line, shell));
  if (command === undefined) return undefined;
  return serverUrls(parseArguments(command.arguments, command.environment).options)[0];
}
