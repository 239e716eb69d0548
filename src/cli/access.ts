import type { DiscoveryOptions } from "../node/llamaServer/serverDiscovery";

/** A key never goes into an argument, where other processes could read it. */
export function serverAccess(url: string): { readonly url: string; readonly apiKey?: string } {
  const apiKey = process.env["LLAMA_API_KEY"];
  return { url, ...(apiKey !== undefined && apiKey !== "" && { apiKey }) };
}

/** The server that is named, and no other one. */
export function namedServer(url: string): DiscoveryOptions {
  const { url: configured, ...key } = serverAccess(url);
  return { configured, ...key };
}
