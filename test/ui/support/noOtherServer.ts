import { discoverServer } from "../../../src/node/serverDiscovery";

/** Fails where somebody's llama-server answers on this machine: a window with nothing configured would find that one. */
export async function noOtherServer(): Promise<void> {
  const { found } = await discoverServer({ processes: true }, new AbortController().signal);
  if (found !== undefined) throw new Error(`a llama-server of somebody else answers at ${found.facts.url}`);
}
