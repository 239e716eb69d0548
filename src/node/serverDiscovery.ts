import type { ServerFacts } from "../core/acceptance/serverFacts";
import { seconds, say } from "../core/text";
import { UserError } from "../core/userError";
import { HttpLlamaServer } from "./llamaServer";

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
  /** Loopback ports tried where nothing is configured. */
  readonly ports?: readonly number[];
}

export interface FoundServer {
  readonly server: HttpLlamaServer;
  readonly facts: ServerFacts;
}

/** A place that was tried: taken, answering as well but later in the order, or not usable and why. */
export interface DiscoveryTry {
  readonly url: string;
  readonly outcome: "taken" | "alsoThere" | UserError;
}

export interface Discovery {
  readonly found?: FoundServer;
  readonly tries: readonly DiscoveryTry[];
}

/** Finds the user's llama-server: the configured address, else the usual ports of 127.0.0.1, all at once. */
export async function discoverServer(options: DiscoveryOptions, signal: AbortSignal): Promise<Discovery> {
  const model = options.model === undefined ? {} : { model: options.model };
  if (options.configured !== undefined) {
    const key = options.apiKey === undefined ? {} : { apiKey: options.apiKey };
    return firstReady([await ask(options.configured, { ...key, ...model }, undefined, signal)]);
  }
  const urls = (options.ports ?? usualPorts).map((port) => `http://127.0.0.1:${port}`);
  return firstReady(await Promise.all(urls.map((url) => ask(url, model, probeSeconds, signal))));
}

type Answer = { readonly url: string } & (FoundServer | { readonly error: UserError });

function firstReady(answers: readonly Answer[]): Discovery {
  const found = answers.find((answer) => "facts" in answer);
  const tries = answers.map((answer): DiscoveryTry => {
    if ("error" in answer) return { url: answer.url, outcome: answer.error };
    return { url: answer.url, outcome: answer === found ? "taken" : "alsoThere" };
  });
  return found === undefined ? { tries } : { found: { server: found.server, facts: found.facts }, tries };
}

async function ask(
  url: string,
  options: { readonly apiKey?: string; readonly model?: string },
  limitSeconds: number | undefined,
  signal: AbortSignal,
): Promise<Answer> {
  const limit = limitSeconds === undefined ? undefined : AbortSignal.timeout(limitSeconds * 1000);
  try {
    const server = new HttpLlamaServer({ url, ...options });
    const facts = await server.facts(limit === undefined ? signal : AbortSignal.any([signal, limit]));
    return { url: server.url, server, facts };
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof UserError) return { url, error: cause };
    if (limit?.aborted === true) return { url, error: tooSlow(url, limitSeconds ?? 0) };
    throw cause;
  }
}

function tooSlow(url: string, limitSeconds: number): UserError {
  return new UserError(
    "timeout",
    say`The server at ${url} did not answer within ${seconds(limitSeconds)}.`,
    say`If it is the one, set its address; then it is waited for.`,
  );
}
