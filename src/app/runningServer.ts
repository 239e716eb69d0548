import type { ServerFacts } from "../core/acceptance/serverFacts";
import { known, knownOr, unknown, unknownBecause, valueOf, type Known } from "../core/known";
import { parseArguments } from "../core/launch/commandLine";
import type { LaunchOptions } from "../core/launch/launchOptions";
import type { ConnectedServer, Situation } from "../core/report/situation";
import { launchDifferences } from "../core/servers/launchDifferences";
import { runningLaunch } from "../core/servers/runningLaunch";
import { say } from "../core/text";
import { UserError } from "../core/userError";
import { serverProcessAt } from "../node/machine/processDiscovery";
import { discoverServer, type Discovery, type DiscoveryOptions } from "../node/llamaServer/serverDiscovery";

export interface ServerSetup {
  /** "none": do not look for a server. */
  readonly server: DiscoveryOptions | "none";
  /** llama-server's options for when none runs, or its process cannot be seen. */
  readonly launch: LaunchOptions;
  /** "none": neither start programs nor look at processes. */
  readonly programs: object | "none";
  /** Another key for a server that refused `tried`; undefined where there is none. */
  readonly keyFor?: (url: string, tried: string | undefined) => Promise<string | undefined>;
}

export interface FoundServer extends Pick<Situation, "server" | "launch" | "launchNotes"> {
  /** `launch` is from the server's own command line, not what somebody else said about it. */
  readonly ownOptions: boolean;
}

/** The server an estimate goes to, and how it was started or would be. */
export async function findServer(setup: ServerSetup, signal: AbortSignal): Promise<FoundServer> {
  const server = await connect(setup, signal);
  const facts = valueOf(server)?.facts;
  if (facts === undefined) return { server, launch: setup.launch, launchNotes: [], ownOptions: false };
  const own = routerOptions(facts) ?? (await processOptions(setup, facts, signal));
  return {
    server,
    launch: runningLaunch(facts, own ?? setup.launch),
    launchNotes: own === undefined ? [] : launchDifferences(facts, own),
    ownOptions: own !== undefined,
  };
}

/** What a router started the model with, which its own command line does not say. */
function routerOptions({ args }: ServerFacts): LaunchOptions | undefined {
  return args && parseArguments(args, {}).options;
}

/** @throws UserError where none answers */
export function connected(server: Known<ConnectedServer>): ConnectedServer {
  if (server.known) return server.value;
  throw new UserError(server.reason ?? "refused", server.why, server.remedy);
}

/** Where the server refuses the key, asks it once more with another one. */
async function connect(setup: ServerSetup, signal: AbortSignal): Promise<Known<ConnectedServer>> {
  if (setup.server === "none") return noServer;
  const options = { processes: setup.programs !== "none", ...setup.server };
  const discovery = await discoverServer(options, signal);
  const answer = answerOf(options, discovery);
  if (answer.known || answer.reason !== "unauthorized") return answer;
  const { configured } = options;
  const url = configured ?? lockedServerIn(discovery);
  if (url === undefined) return answer;
  const apiKey = await setup.keyFor?.(url, configured === undefined ? undefined : options.apiKey);
  signal.throwIfAborted();
  if (apiKey === undefined) return answer;
  const unlocked = { ...options, configured: url, apiKey };
  return answerOf(unlocked, await discoverServer(unlocked, signal));
}

/** A server among those tried that answers nobody without a key. */
export function lockedServerIn({ tries }: Discovery): string | undefined {
  return tries.find(({ outcome }) => typeof outcome !== "string" && outcome.reason === "unauthorized")?.url;
}

const noServer = unknown(
  say`No llama-server responds on this machine.`,
  say`Start llama-server, or set its address (llamaGauge.server.url).`,
);

/** The server, else the configured one's own error, else that of a server that is there but not ready. */
function answerOf(options: DiscoveryOptions, { found, tries }: Discovery): Known<ConnectedServer> {
  if (found !== undefined) return known(found);
  const errors = tries.flatMap(({ outcome }) => (typeof outcome === "string" ? [] : [outcome]));
  const telling = errors.find(
    ({ reason }) => options.configured !== undefined || reason === "loading" || reason === "unauthorized",
  );
  return telling === undefined ? noServer : unknownBecause(telling);
}

/** What the server's own command line says, where its process is one of this machine's. */
async function processOptions(
  { programs }: ServerSetup,
  { url }: ServerFacts,
  signal: AbortSignal,
): Promise<LaunchOptions | undefined> {
  if (programs === "none") return undefined;
  return valueOf(await knownOr(serverProcessAt(url, signal)))?.options;
}
