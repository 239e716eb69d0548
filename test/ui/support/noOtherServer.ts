import { discoverServer } from "../../../src/node/llamaServer/serverDiscovery";

/**
 * Fails where somebody's llama-server answers on this machine: a window with nothing configured would find that one. Servers
 * that a window of another test has started may take a moment to end behind it.
 */
export async function noOtherServer(): Promise<void> {
  for (const end = Date.now() + 30_000; ;) {
    const { found } = await discoverServer({ processes: true }, new AbortController().signal);
    if (found === undefined) return;
    if (Date.now() > end) throw new Error(`a llama-server of somebody else answers at ${found.facts.url}`);
  }
}
