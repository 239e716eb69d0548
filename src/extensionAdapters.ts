import type { Outside } from "./client/commandTable";
import type { Estimator } from "./client/estimator";
import type { ApiKeys } from "./client/secrets";
import type { ServerCandidate } from "./client/serverChoice";
import type { SettingsStore } from "./client/settingsStore";
import type { Log } from "./core/ports";
import { say } from "./core/text";
import { UserError } from "./core/userError";

interface Parts {
  readonly settings: SettingsStore;
  readonly keys: ApiKeys;
  readonly log: Log;
}

/** The extension's ways to the outside. Every adapter is loaded at its first use. */
export function extensionAdapters(_parts: Parts): {
  readonly estimator: Estimator;
  readonly outside: Outside;
} {
  return {
    estimator: () => Promise.reject(notYet()),
    outside: {
      discoverServers,
      findModels: () => Promise.resolve([]),
      packPrompt: () => Promise.reject(notYet()),
      now: Date.now,
    },
  };
}

async function discoverServers(signal: AbortSignal): Promise<readonly ServerCandidate[]> {
  const { discoverServer } = await import("./node/serverDiscovery");
  const { tries } = await discoverServer({}, signal);
  return tries.flatMap(({ url, outcome }) => (typeof outcome === "string" ? [{ url, description: "" }] : []));
}

const notYet = (): UserError =>
  new UserError("unsupported", say`Estimates are not wired up yet.`, say`Use a newer version.`);
