import { parseArguments } from "../launch/commandLine";
import type { LaunchOptions, OptionOrigin } from "../launch/launchOptions";
import { maskSecrets } from "../launch/maskSecrets";
import { findServerCommand } from "../scripts/serverCommand";
import { hostToAsk } from "./serverAddress";

/** A process as the system lists it. */
export interface ListedProcess {
  readonly pid: number;
  readonly parentPid?: number;
  /** Program and arguments, apart. */
  readonly argv: readonly string[];
  /** Variables of its environment that llama-server reads, where they can be seen. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly workingFolder?: string;
  /** What its system's `config.ini` sets. */
  readonly config?: LaunchOptions;
  /** As the system tells it. */
  readonly started?: string;
}

/** A llama-server that runs on this machine. No secret is kept. */
export interface RunningServer {
  readonly pid: number;
  readonly started?: string;
  readonly workingFolder?: string;
  readonly program: string;
  readonly arguments: readonly string[];
  readonly options: LaunchOptions;
  readonly origins: ReadonlyMap<keyof LaunchOptions, OptionOrigin>;
  readonly role: "single" | "router" | "routersChild";
  /** Of a router's child: the router's. */
  readonly routerPid?: number;
  /** Whether it wants an API key. */
  readonly needsKey: boolean;
  /** Where it may answer, the likeliest first. A port that was not named is llama-server's default, which changed. */
  readonly urls: readonly string[];
  /** What `--log-file` or its variable says: relative to the working folder. */
  readonly logFile?: string;
}

/** Default ports of llama-server, newest first. */
const defaultPorts: readonly number[] = [9931, 8080];

/** The llama-servers among the processes; wrappers that only start one are left out. */
export function runningServers(processes: readonly ListedProcess[]): RunningServer[] {
  const found = processes.flatMap((listed) => {
    const server = readServer(listed);
    return server === undefined ? [] : [{ listed, server }];
  });
  const pids = new Map(found.map(({ listed, server }) => [listed.pid, server]));
  const wrappers = new Set(
    found.flatMap(({ listed, server }) => {
      const parent = listed.parentPid === undefined ? undefined : pids.get(listed.parentPid);
      const same = parent !== undefined && parent.arguments.join("\0") === server.arguments.join("\0");
      return same && listed.parentPid !== undefined ? [listed.parentPid] : [];
    }),
  );
  return found
    .filter(({ listed }) => !wrappers.has(listed.pid))
    .map(({ listed, server }) => {
      const parent = listed.parentPid === undefined ? undefined : pids.get(listed.parentPid);
      const child = parent?.role === "router" && !wrappers.has(listed.parentPid ?? -1);
      return child && listed.parentPid !== undefined
        ? { ...server, role: "routersChild", routerPid: listed.parentPid }
        : server;
    });
}

function readServer(listed: ListedProcess): RunningServer | undefined {
  const command = findServerCommand(listed.argv);
  if (command === undefined) return undefined;
  const environment = { ...listed.environment, ...command.environment };
  const { options: told, origins, given } = parseArguments(command.arguments, environment);
  const options = { ...listed.config, ...told };
  const model = options.model ?? options.hfRepo ?? options.modelUrl ?? options.dockerRepo;
  const logFile = given.findLast(({ option }) => option.name === "--log-file")?.value;
  const preset = given.some(
    ({ option }) => /-(default|spec)$/.test(option.name) && option.name !== "--spec-default",
  );
  return {
    pid: listed.pid,
    ...(listed.started === undefined ? {} : { started: listed.started }),
    ...(listed.workingFolder === undefined ? {} : { workingFolder: listed.workingFolder }),
    program: command.program,
    arguments: maskSecrets(command.arguments),
    options,
    origins,
    role: model === undefined && !preset ? "router" : "single",
    needsKey: given.some(({ option }) => option.name === "--api-key" || option.name === "--api-key-file"),
    urls: serverUrls(options),
    ...(logFile !== undefined && logFile !== "" && { logFile }),
  };
}

/** Where a llama-server with these options may answer, the likeliest first; none for a socket or a port of its own choice. */
export function serverUrls({ host, port, apiPrefix = "" }: LaunchOptions): string[] {
  const named = (host ?? "127.0.0.1").split(",").filter((name) => name !== "" && !name.endsWith(".sock"));
  const ports = port === undefined ? defaultPorts : port > 0 ? [port] : [];
  return named.flatMap((name) => ports.map((each) => `http://${hostToAsk(name)}:${each}${apiPrefix}`));
}
