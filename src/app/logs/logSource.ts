import path from "node:path";
import type { ConversationSource } from "../../core/conversation/source";
import type { RunningServer } from "../../core/servers/runningServers";
import { isLocal, portOf } from "../../core/servers/serverAddress";
import { runningLlamaServers } from "../../node/machine/processDiscovery";
import { isReadableFile } from "../../node/reading/readableFile";

/** What the host knows of servers and their logs. */
export interface LogSourceHost {
  /** A log the user chose; empty: none. */
  chosenLog(): string;
  attachedServer(): { readonly url: string; readonly logFile: string } | undefined;
  /** Of the server of the report on show. */
  serverUrl(): string | undefined;
  /** Whether the processes of this machine may be looked at. */
  trusted(): boolean;
}

/** A log and where it really lies: that of a container's process is reached through the process. */
export interface FoundLog {
  readonly source: Exclude<ConversationSource, { kind: "slots" }>;
  readonly file: string;
}

/**
 * The log to read: what the user chose; else that of the server that was started here; else the one that a running server's
 * own command line names, if it is a file that can be read. Undefined where there is none.
 */
export async function findLog(host: LogSourceHost, signal: AbortSignal): Promise<FoundLog | undefined> {
  const chosen = host.chosenLog();
  if (chosen !== "") return { source: { kind: "chosenLog", file: chosen }, file: chosen };
  const attached = host.attachedServer();
  const url = host.serverUrl();
  if (attached !== undefined && (url === undefined || url === attached.url)) {
    const { logFile: file } = attached;
    return { source: { kind: "ownLog", file, url: attached.url }, file };
  }
  if (!host.trusted() || (url !== undefined && !isLocal(url))) return undefined;
  const servers = await runningLlamaServers(signal);
  const fitting = servers.filter(
    ({ urls, role }) =>
      role !== "routersChild" && (url === undefined || urls.some((its) => portOf(its) === portOf(url))),
  );
  for (const server of fitting) {
    const found = await logOf(server);
    if (found !== undefined) {
      const [first] = server.urls;
      const its = url ?? first;
      return {
        source: { kind: "commandLine", file: found.named, ...(its !== undefined && { url: its }) },
        file: found.file,
      };
    }
  }
  return undefined;
}

/** What a command line names need not be there, nor be a file, nor be readable to us. */
async function logOf({
  pid,
  logFile,
  workingFolder,
}: RunningServer): Promise<{ readonly named: string; readonly file: string } | undefined> {
  if (logFile === undefined || (workingFolder === undefined && !path.isAbsolute(logFile))) return undefined;
  const named = path.resolve(workingFolder ?? "/", logFile);
  // a container's paths begin at its own root; another user's process does not show it
  const places = process.platform === "linux" ? [path.join(`/proc/${pid}/root`, named), named] : [named];
  for (const file of places) if (await isReadableFile(file)) return { named, file };
  return undefined;
}
