import { Estimates } from "./estimates";
import type { AppHost } from "./host";
import { Ladders } from "./ladders";
import { Machine } from "./machine";
import { PresetCosts } from "./presetCosts";
import { Servers } from "./servers";
import { Speed } from "./speed";
import { ServerStart } from "./startServer";

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
