import type { Log } from "../core/log";
import type { Situation } from "../core/report/situation";
import type { ServerAddress } from "../core/servers/serverAddresses";
import type { UnsavedText } from "../core/tokens/overlayFiles";
import type { Settings } from "./settings";

/** A server that was started by whoever runs the app. */
export interface AttachedServer {
  readonly url: string;
  readonly apiKey?: string;
  readonly logFile: string;
}

/** What the app is told by whoever runs it: plain data and small questions, so that it knows no editor. */
export interface AppHost {
  readonly log: Log;
  /** Folder of ours for what is compiled, counted or measured once. */
  readonly cacheFolder: string;
  /** Where the logs of servers lie that are started from here. */
  readonly logFolder: string;
  /** Of the product: other code may count otherwise. */
  readonly version: string;
  settings(): Settings;
  /** Whether programs may be started and addresses that the workspace names may be asked. */
  trusted(): boolean;
  /** The stored key of a server. */
  apiKey(url: string): Promise<string | undefined>;
  /** Asks the user for the key of a server and stores it; false where they gave none. */
  askForApiKey(url: string): Promise<boolean>;
  attachedServer(): AttachedServer | undefined;
  /** Where else a server may be, as open terminals and other extensions tell. */
  serverAddresses(): Promise<readonly ServerAddress[]>;
  /** What the report on show was made from. */
  shownSituation(): Situation | undefined;
  /** Absolute paths. */
  workspaceFolders(): readonly string[];
  /** What stands in editors and is not saved yet, by absolute path. */
  unsavedTexts(): ReadonlyMap<string, UnsavedText>;
  /** The text of bytes that are not UTF-8. */
  decode(bytes: Uint8Array, file: string): Promise<string>;
}
