import type { AppHost } from "../../src/app/host";
import type { Settings } from "../../src/app/settings";
import { sampleSettings } from "./sampleSettings";

export interface TestHost extends AppHost {
  /** What was logged as a warning. */
  readonly warnings: readonly string[];
}

/** A trusted window without a folder, a server or unsaved texts; changed as given. */
export function testHost(
  folder: string,
  settings: () => Partial<Settings> = () => ({}),
  changes: Partial<AppHost> = {},
): TestHost {
  const warnings: string[] = [];
  return {
    log: { info: () => undefined, warn: (message) => warnings.push(message), error: () => undefined },
    warnings,
    ...{ version: "0", cacheFolder: folder, logFolder: folder },
    settings: () => sampleSettings(settings()),
    trusted: () => true,
    apiKey: () => Promise.resolve(undefined),
    askForApiKey: () => Promise.resolve(false),
    attachedServer: () => undefined,
    serverAddresses: () => Promise.resolve([]),
    shownSituation: () => undefined,
    workspaceFolders: () => [],
    unsavedTexts: () => new Map(),
    decode: (bytes) => Promise.resolve(new TextDecoder("latin1").decode(bytes)),
    ...changes,
  };
}
