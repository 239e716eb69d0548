import type { ServerFacts } from "../acceptance/serverFacts";
import { isLocal } from "./serverAddress";

/**
 * The path of a server's model where it may be opened here: the server is on this machine, and the path is an absolute one of
 * a disk. Another machine could name any file of ours, and a network path would send Windows' credentials to it.
 */
export function localModelPath({ url, model }: Pick<ServerFacts, "url" | "model">): string | undefined {
  const { path } = model;
  return path !== undefined && isLocal(url) && /^(?:\/(?![\\/])|[a-z]:[\\/])/i.test(path) ? path : undefined;
}
