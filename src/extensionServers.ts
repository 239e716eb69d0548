import { workspace } from "vscode";
import { askForApiKey } from "./client/servers/apiKeyPrompt";
import type { OfferedModel } from "./client/servers/routerModelChoice";
import type { ApiKeys } from "./client/servers/apiKeys";
import type { ServerCandidate } from "./client/servers/serverChoice";
import type { Settings } from "./app/settings";
import { localized } from "./client/editor/vscodeText";
import type { ServerAddress } from "./core/servers/serverAddresses";
import type { Situation } from "./core/report/situation";
import { count, say } from "./core/text";
import type { Setup } from "./app/situation";
import type { DiscoveryOptions } from "./node/llamaServer/serverDiscovery";

/** A server started from this window. */
export interface AttachedServer {
  readonly url: string;
  readonly apiKey?: string;
  readonly logFile: string;
}

/** What the editor knows of servers besides its settings. */
export interface ServersNearby {
  readonly attached: () => AttachedServer | undefined;
  readonly addresses: () => Promise<readonly ServerAddress[]>;
}

/** The server started here, else the configured one with its key; neither: whatever answers on this machine. */
export async function serverOptions(
  { serverUrl, serverModel }: Settings,
  keys: ApiKeys,
  nearby: ServersNearby,
): Promise<DiscoveryOptions> {
  const attached = nearby.attached();
  if (attached !== undefined) return withKey(attached.url, attached.apiKey ?? (await keys.get(attached.url)));
  const model = serverModel === "" ? {} : { model: serverModel };
  if (serverUrl === "") return { ...model, addresses: await nearby.addresses() };
  return { ...model, ...withKey(serverUrl, await keys.get(serverUrl)) };
}

function withKey(url: string, apiKey: string | undefined): DiscoveryOptions {
  return { configured: url, ...(apiKey !== undefined && { apiKey }) };
}

/** Where the server wants an API key, takes the stored one or asks for it, and then asks everything once more. */
export async function gatherPartsAskingForKey(
  setup: Setup,
  keys: ApiKeys,
  signal: AbortSignal,
): Promise<Situation> {
  const { gatherParts } = await import("./app/situation");
  const parts = await gatherParts(setup, signal);
  if (parts.server.known || parts.server.reason !== "unauthorized" || setup.server === "none") return parts;
  const { configured } = setup.server;
  const url = configured ?? (await lockedServer(setup.server, signal));
  if (url === undefined) return parts;
  const tried = configured === undefined ? undefined : setup.server.apiKey;
  const stored = await keys.get(url);
  if ((stored === undefined || stored === tried) && !(await askForApiKey(keys, url))) return parts;
  signal.throwIfAborted();
  const { model } = setup.server;
  const server = { ...withKey(url, await keys.get(url)), ...(model !== undefined && { model }) };
  return gatherParts({ ...setup, server }, signal);
}

/** A server of this machine that answers nobody without a key. */
export async function lockedServer(
  options: DiscoveryOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { discoverServer } = await import("./node/llamaServer/serverDiscovery");
  const { tries } = await discoverServer(options, signal);
  return tries.find(({ outcome }) => typeof outcome !== "string" && outcome.reason === "unauthorized")?.url;
}

/** The servers of this machine that answer, also those that do not serve yet, and the configured one. */
export async function discoverServers(
  { serverUrl }: Settings,
  nearby: ServersNearby,
  signal: AbortSignal,
): Promise<readonly ServerCandidate[]> {
  const { discoverServer } = await import("./node/llamaServer/serverDiscovery");
  const { sourceText } = await import("./core/servers/serverAddresses");
  const { tries } = await discoverServer(await unconfigured(nearby), signal);
  const candidates = tries.flatMap(({ url, source, outcome, facts }): readonly ServerCandidate[] => {
    const from = localized(sourceText(source));
    if (typeof outcome !== "string") {
      // of a process it matters why it cannot be asked; behind other addresses there is most likely nothing
      const there = /loading|unauthorized|invalidInput/.test(outcome.reason) || source.kind === "process";
      return there ? [{ url, description: `${localized(outcome.problem)} (${from})` }] : [];
    }
    if (facts === undefined) return [{ url, description: from }];
    const { model, nCtxPerSlot } = facts;
    const said = localized(say`${model.id}, ${count(nCtxPerSlot)} tokens per request`);
    return [{ url, description: `${said} (${from})` }];
  });
  const listed = serverUrl === "" || candidates.some(({ url }) => url === serverUrl);
  return listed
    ? candidates
    : [...candidates, { url: serverUrl, description: localized(say`from the settings`) }];
}

async function unconfigured(nearby: ServersNearby): Promise<DiscoveryOptions> {
  return { processes: workspace.isTrusted, addresses: await nearby.addresses() };
}

/** The models behind an address where it is a router's or llama-swap's; else none. */
export async function offeredModels(
  url: string,
  keys: ApiKeys,
  signal: AbortSignal,
): Promise<readonly OfferedModel[]> {
  const { offeredModels: ask } = await import("./node/llamaServer/offeredModels");
  const apiKey = await keys.get(url);
  return ask({ url, ...(apiKey !== undefined && { apiKey }) }, signal);
}
