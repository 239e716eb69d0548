import { askForApiKey } from "./client/apiKeyPrompt";
import type { ApiKeys } from "./client/secrets";
import type { ServerCandidate } from "./client/serverChoice";
import type { Settings } from "./client/settings";
import { localized } from "./client/vscodeText";
import type { EstimateParts } from "./core/report/estimate";
import { count, say } from "./core/text";
import type { Setup } from "./node/estimateParts";
import type { DiscoveryOptions } from "./node/serverDiscovery";

/** A server started from this window. */
export interface AttachedServer {
  readonly url: string;
  readonly apiKey?: string;
}

/** The server started here, else the configured one with its key; neither: whatever answers on this machine. */
export async function serverOptions(
  { serverUrl }: Settings,
  keys: ApiKeys,
  attached: AttachedServer | undefined,
): Promise<DiscoveryOptions> {
  if (attached !== undefined) return withKey(attached.url, attached.apiKey ?? (await keys.get(attached.url)));
  return serverUrl === "" ? {} : withKey(serverUrl, await keys.get(serverUrl));
}

function withKey(url: string, apiKey: string | undefined): DiscoveryOptions {
  return { configured: url, ...(apiKey !== undefined && { apiKey }) };
}

/** Where the server wants an API key, takes the stored one or asks for it, and then asks everything once more. */
export async function gatherPartsAskingForKey(
  setup: Setup,
  keys: ApiKeys,
  signal: AbortSignal,
): Promise<EstimateParts> {
  const { gatherParts } = await import("./node/estimateParts");
  const parts = await gatherParts(setup, signal);
  if (parts.server.known || parts.server.reason !== "unauthorized" || setup.server === "none") return parts;
  const { configured } = setup.server;
  const url = configured ?? (await lockedServer(signal));
  if (url === undefined) return parts;
  const tried = configured === undefined ? undefined : setup.server.apiKey;
  const stored = await keys.get(url);
  if ((stored === undefined || stored === tried) && !(await askForApiKey(keys, url))) return parts;
  signal.throwIfAborted();
  return gatherParts({ ...setup, server: withKey(url, await keys.get(url)) }, signal);
}

/** A server of this machine that answers nobody without a key. */
export async function lockedServer(signal: AbortSignal): Promise<string | undefined> {
  const { discoverServer } = await import("./node/serverDiscovery");
  const { tries } = await discoverServer({}, signal);
  return tries.find(({ outcome }) => typeof outcome !== "string" && outcome.reason === "unauthorized")?.url;
}

/** The servers of this machine that answer, also those that do not serve yet, and the configured one. */
export async function discoverServers(
  { serverUrl }: Settings,
  signal: AbortSignal,
): Promise<readonly ServerCandidate[]> {
  const { discoverServer } = await import("./node/serverDiscovery");
  const { found, tries } = await discoverServer({}, signal);
  const candidates = tries.flatMap(({ url, outcome }): readonly ServerCandidate[] => {
    if (typeof outcome !== "string") {
      const there = outcome.reason === "loading" || outcome.reason === "unauthorized";
      return there ? [{ url, description: localized(outcome.problem) }] : [];
    }
    if (outcome === "taken" && found !== undefined) {
      const { model, nCtxPerSlot } = found.facts;
      return [{ url, description: localized(say`${model.id}, ${count(nCtxPerSlot)} tokens per request`) }];
    }
    return [{ url, description: localized(say`answers, too`) }];
  });
  const listed = serverUrl === "" || candidates.some(({ url }) => url === serverUrl);
  return listed
    ? candidates
    : [...candidates, { url: serverUrl, description: localized(say`from the settings`) }];
}
