import { isReadableByOthers } from "../core/servers/serverAddress";
import type { DiscoveryOptions } from "../node/llamaServer/serverDiscovery";
import { printError } from "./output";

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
