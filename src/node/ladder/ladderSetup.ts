import os from "node:os";
import type { ServerFacts } from "../../core/acceptance/serverFacts";
import type { MachineFacts } from "../../core/history/historyRecord";
import type { LadderSetup } from "../../core/ladder/score/record";
import type { RunningServer } from "../../core/servers/runningServers";
import { withoutSecrets } from "../../core/withoutSecrets";
import { isLocal, portOf } from "../../core/servers/serverAddress";
import { listeningProcess } from "../monitor/monitorLinux";
import { runningLlamaServers } from "../machine/processDiscovery";

/** Where a server runs is no part of what it is. */
const addresses: ReadonlySet<string> = new Set(["host", "port", "alias", "apiPrefix", "metrics", "slots"]);

export interface ServerProcess {
  /** On this machine. */
  readonly local: boolean;
  readonly pid?: number;
  readonly process?: RunningServer;
}

/** The process behind an address, where it is on this machine and can be seen. */
export async function findServerProcess(url: string, signal: AbortSignal): Promise<ServerProcess> {
  const local = isLocal(url);
  if (!local) return { local };
  const port = portOf(url);
  const listening = process.platform === "linux" ? listeningProcess(port) : undefined;
  const running = await runningLlamaServers(signal).catch(() => {
    signal.throwIfAborted();
    return [];
  });
  const found =
    running.find(({ pid }) => pid === listening) ?? running.find(({ options }) => options.port === port);
  const pid = listening ?? found?.pid;
  return { local, ...(pid !== undefined && { pid }), ...(found !== undefined && { process: found }) };
}

/** What is tested, field by field: what the server says, and the options it was started with where they can be seen. */
export function setupOf(facts: ServerFacts, found: ServerProcess): LadderSetup {
  const options = Object.entries(found.process?.options ?? {})
    .filter(([name, value]) => !addresses.has(name) && value !== undefined)
    .map(([name, value]): [string, string] => [
      name,
      withoutSecrets(typeof value === "string" ? value : JSON.stringify(value)),
    ]);
  const { model } = facts;
  return {
    ...Object.fromEntries(options),
    model: model.path ?? model.id,
    ...(facts.build !== undefined && { build: facts.build }),
    ...(model.weightsBytes !== undefined && { weightsBytes: String(model.weightsBytes) }),
    ...(model.parameters !== undefined && { parameters: String(model.parameters) }),
    nCtxPerSlot: String(facts.nCtxPerSlot),
    totalSlots: String(facts.totalSlots),
    ...(found.process !== undefined && { program: found.process.program }),
    ...(found.local && { machine: machineOf().cpu }),
  };
}

export function machineOf(): MachineFacts {
  const [cpu] = os.cpus();
  return {
    platform: `${process.platform} ${os.release()}`,
    cpu: cpu?.model.trim() ?? "unknown",
    logicalCpus: os.availableParallelism(),
    memoryBytes: os.totalmem(),
  };
}
