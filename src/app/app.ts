import { AgentQuestions } from "./agents/agentQuestions";
import { Estimates } from "./estimates";
import type { AppHost } from "./host";
import { Ladders } from "./ladders";
import { LiveLedger } from "./logs/liveLedger";
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
  readonly agents: AgentQuestions;
  readonly liveLedger: LiveLedger;

  constructor(host: AppHost) {
    this.estimates = new Estimates(host);
    const measuring = { ...host, situation: (signal: AbortSignal) => this.estimates.situation(signal) };
    this.servers = new Servers(host);
    this.machine = new Machine(host);
    this.speed = new Speed(measuring);
    this.ladders = new Ladders(measuring);
    this.presetCosts = new PresetCosts(host);
    this.serverStart = new ServerStart(host);
    this.liveLedger = new LiveLedger({
      chosenLog: () => host.settings().serverLog,
      attachedServer: () => host.attachedServer(),
      serverUrl: () => {
        const server = host.shownSituation()?.server;
        return server?.known === true ? server.value.facts.url : undefined;
      },
      trusted: () => host.trusted(),
    });
    this.agents = new AgentQuestions({
      roots: () => host.workspaceFolders(),
      estimate: (roots, signal) =>
        this.estimates.estimate({ label: "the question's files", roots }, () => undefined, signal),
      situation: measuring.situation,
      apiKey: (url) => host.apiKey(url),
      log: (signal) => this.liveLedger.read(signal),
    });
  }

  async close(): Promise<void> {
    await this.estimates.close();
  }
}
