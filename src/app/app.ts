import type { Log } from "../core/log";
import type { Situation } from "../core/report/situation";
import type { ServerAddress } from "../core/servers/serverAddresses";
import type { UnsavedText } from "../core/tokens/overlayFiles";
import { Estimates } from "./estimates";
import { Ladders } from "./ladders";
import { Machine } from "./machine";
import { PresetCosts } from "./presetCosts";
import { Servers } from "./servers";
import type { Settings } from "./settings";
import { Speed } from "./speed";
import { ServerStart } from "./startServer";

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

/** The use cases, each once, for one host. */
export class App {
  readonly estimates: Estimates;
  readonly servers: Servers;
  readonly machine: Machine;
  readonly speed: Speed;
  readonly ladders: Ladders;
  readonly presetCosts: PresetCosts;
  readonly serverStart: ServerStart;

  constructor(host: AppHost) {
    this.estimates = new Estimates(host);
    const measuring = { ...host, situation: (signal: AbortSignal) => this.estimates.situation(signal) };
    this.servers = new Servers(host);
    this.machine = new Machine(host);
    this.speed = new Speed(measuring);
    this.ladders = new Ladders(measuring);
    this.presetCosts = new PresetCosts(host);
    this.serverStart = new ServerStart(host);
  }

  async close(): Promise<void> {
    await this.estimates.close();
  }
}
