import type { ServerFacts } from "../../core/acceptance/serverFacts";
import { seconds, say } from "../../core/text";
import { UserError } from "../../core/userError";
import {
  addressesOfProcesses,
  addressesToAsk,
  type AddressSource,
  type ServerAddress,
} from "../../core/servers/serverAddresses";
import { HttpLlamaServer } from "./llamaServer";
import { llamaSwapUpstream } from "./llamaSwapUpstream";
import { TimeLimitError } from "../waiting/within";
import { withLimit } from "../waiting/withLimit";

/** llama-server's default port (9931, formerly 8080) and those commonly chosen beside it. */
export const usualPorts: readonly number[] = [9931, 8080, 8009, 8010, 8011, 8012];

/** A silent port of this machine refuses at once; one that hangs is not waited for. */
const probeSeconds = 2;

export interface DiscoveryOptions {
  /** The address the user set. Where there is one nothing else is tried: another server would be another answer. */
  readonly configured?: string;
  /** Key of the configured address; sent nowhere else. */
  readonly apiKey?: string;
  /** Which of a router's models is meant. */
  readonly model?: string;
  /** Whether the processes of this machine are looked at where nothing is configured. */
  readonly processes?: boolean;
  /** Further addresses tried where nothing is configured, after those of processes; only loopback ones are asked. */
  readonly addresses?: readonly ServerAddress[];
  /** Loopback ports tried last where nothing is configured. */
  readonly ports?: readonly number[];
}

export interface FoundServer {
  readonly server: HttpLlamaServer;
  readonly facts: ServerFacts;
}

/** A place that was tried: taken, answering as well but later in the order, or not usable and why. */
export interface DiscoveryTry {
  readonly url: string;
  readonly source: AddressSource;
  readonly outcome: "taken" | "alsoThere" | UserError;
  /** Of what answers. */
  readonly facts?: ServerFacts;
}

export interface Discovery {
  readonly found?: FoundServer;
  readonly tries: readonly DiscoveryTry[];
}

/**
 * Finds the user's llama-server: the configured address; else running processes, the further addresses and the usual
 * ports of 127.0.0.1, in this order and all at once.
 */
export async function discoverServer(options: DiscoveryOptions, signal: AbortSignal): Promise<Discovery> {
  const model = options.model === undefined ? {} : { model: options.model };
  if (options.configured !== undefined) {
    const key = options.apiKey === undefined ? {} : { apiKey: options.apiKey };
    const address = { url: options.configured, source: { kind: "configured" } } as const;
    return firstReady([await ask(address, { ...key, ...model }, undefined, signal)]);
  }
  const asked = new Map<string, Promise<Answer>>();
  const askOnce = (address: ServerAddress): Promise<Answer> => {
    const known = asked.get(address.url);
    const answer =
      known?.then((its) => ({ ...its, source: address.source })) ?? ask(address, model, probeSeconds, signal);
    if (known === undefined) asked.set(address.url, answer);
    return answer;
  };
  const others = [
    ...(options.addresses ?? []),
    ...(options.ports ?? usualPorts).map((port): ServerAddress => ({
      url: `http://127.0.0.1:${port}`,
      source: { kind: "usualPort" },
    })),
  ];
  // asked while the processes are listed; both are waited for at once, so that no failure of either goes unheard
  const [running] = await Promise.all([
    options.processes === true ? addressesOfRunning(signal) : [],
    ...addressesToAsk(others).map(askOnce),
  ]);
  return firstReady(await Promise.all(addressesToAsk([...running, ...others]).map(askOnce)));
}

/** A system that does not show its processes is no reason to find nothing. */
async function addressesOfRunning(signal: AbortSignal): Promise<ServerAddress[]> {
  const { runningLlamaServers } = await import("../machine/processDiscovery");
  try {
    return addressesOfProcesses(await runningLlamaServers(signal));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UserError) return [];
    throw error;
  }
}

type Answer = ServerAddress & (FoundServer | { readonly error: UserError });

function firstReady(answers: readonly Answer[]): Discovery {
  const found = answers.find((answer) => "facts" in answer);
  const tries = answers.map((answer): DiscoveryTry => {
    const { url, source } = answer;
    if ("error" in answer) return { url, source, outcome: answer.error };
    return { url, source, outcome: answer === found ? "taken" : "alsoThere", facts: answer.facts };
  });
  return found === undefined ? { tries } : { found: { server: found.server, facts: found.facts }, tries };
}

async function ask(
  { url, source }: ServerAddress,
  options: { readonly apiKey?: string; readonly model?: string },
  limitSeconds: number | undefined,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    return limitSeconds === undefined
      ? await askServer(url, source, options, signal)
      : await withLimit(signal, limitSeconds * 1000, (both) => askServer(url, source, options, both));
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof UserError) return { url, source, error: cause };
    if (cause instanceof TimeLimitError) return { url, source, error: tooSlow(url, limitSeconds ?? 0) };
    throw cause;
  }
}

async function askServer(
  url: string,
  source: AddressSource,
  options: { readonly apiKey?: string; readonly model?: string },
  signal: AbortSignal,
): Promise<Answer> {
  try {
    const server = new HttpLlamaServer({ url, ...options });
    return { url: server.url, source, server, facts: await server.facts(signal) };
  } catch (cause) {
    if (!(cause instanceof UserError) || cause.reason !== "notFound") throw cause;
    const upstream = await llamaSwapUpstream({ url, ...options }, signal);
    if (upstream === undefined) throw cause;
    const server = new HttpLlamaServer({ ...options, url: upstream });
    return { url: server.url, source, server, facts: await server.facts(signal) };
  }
}

function tooSlow(url: string, limitSeconds: number): UserError {
  return new UserError(
    "timeout",
    say`The server at ${url} did not answer within ${seconds(limitSeconds)}.`,
    say`If this is the right one, set its address; Llama Gauge then waits for it.`,
  );
}
