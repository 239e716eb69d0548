import { sourceText } from "../core/servers/serverAddresses";
import { count, say, type Text } from "../core/text";
import { offeredModels } from "../node/llamaServer/offeredModels";
import { discoverServer, type DiscoveryOptions } from "../node/llamaServer/serverDiscovery";
import type { AppHost } from "./host";
import { lockedServerIn, type ServerSetup } from "./runningServer";

export type ServersHost = Pick<
  AppHost,
  "settings" | "trusted" | "apiKey" | "askForApiKey" | "attachedServer" | "serverAddresses"
>;

/** A llama-server that can be chosen. */
export interface ServerCandidate {
  readonly url: string;
  /** Model, context and where the address comes from. */
  readonly description: Text;
}

/** One of the models behind an address. */
export interface OfferedModel {
  readonly id: string;
  readonly loaded: boolean;
}

/** The server started here, else the configured one with its key; neither: whatever answers on this machine. */
export async function serverSetup(host: ServersHost): Promise<Pick<ServerSetup, "server" | "keyFor">> {
  return {
    server: await serverOptions(host),
    keyFor: async (url, tried) => {
      const stored = await host.apiKey(url);
      if (stored !== undefined && stored !== tried) return stored;
      return (await host.askForApiKey(url)) ? host.apiKey(url) : undefined;
    },
  };
}

async function serverOptions(host: ServersHost): Promise<DiscoveryOptions> {
  const attached = host.attachedServer();
  if (attached !== undefined) {
    return withKey(attached.url, attached.apiKey ?? (await host.apiKey(attached.url)));
  }
  const { serverUrl, serverModel } = host.settings();
  const model = serverModel === "" ? {} : { model: serverModel };
  if (serverUrl === "") return { ...model, addresses: await host.serverAddresses() };
  return { ...model, ...withKey(serverUrl, await host.apiKey(serverUrl)) };
}

function withKey(url: string, apiKey: string | undefined): DiscoveryOptions {
  return { configured: url, ...(apiKey !== undefined && { apiKey }) };
}

/** The llama-servers of this user, to choose from. */
export class Servers {
  constructor(private readonly host: ServersHost) {}

  /** A server of this machine that answers nobody without a key. */
  async locked(signal: AbortSignal): Promise<string | undefined> {
    return lockedServerIn(await discoverServer(await serverOptions(this.host), signal));
  }

  /** The servers of this machine that answer, also those that do not serve yet, and the configured one. */
  async candidates(signal: AbortSignal): Promise<readonly ServerCandidate[]> {
    const addresses = await this.host.serverAddresses();
    const { tries } = await discoverServer({ processes: this.host.trusted(), addresses }, signal);
    const found = tries.flatMap(({ url, source, outcome, facts }): readonly ServerCandidate[] => {
      const from = sourceText(source);
      if (typeof outcome !== "string") {
        // of a process it matters why it cannot be asked; behind other addresses there is most likely nothing
        const there = /loading|unauthorized|invalidInput/.test(outcome.reason) || source.kind === "process";
        return there ? [{ url, description: say`${outcome.problem} (${from})` }] : [];
      }
      if (facts === undefined) return [{ url, description: from }];
      const said = say`${facts.model.id}, ${count(facts.nCtxPerSlot)} token[s] per request`;
      return [{ url, description: say`${said} (${from})` }];
    });
    const { serverUrl } = this.host.settings();
    const listed = serverUrl === "" || found.some(({ url }) => url === serverUrl);
    return listed ? found : [...found, { url: serverUrl, description: say`from the settings` }];
  }

  /** The models behind an address where it is a router's or llama-swap's; else none. */
  async models(url: string, signal: AbortSignal): Promise<readonly OfferedModel[]> {
    const apiKey = await this.host.apiKey(url);
    return offeredModels({ url, ...(apiKey !== undefined && { apiKey }) }, signal);
  }
}
