import { say, type Text } from "../text";
import type { RunningServer } from "./runningServers";
import { isLocal } from "./serverAddress";

/** Why an address is asked whether a llama-server answers there. */
export type AddressSource =
  | { readonly kind: "configured" }
  | { readonly kind: "process"; readonly pid: number }
  | { readonly kind: "terminal"; readonly name: string }
  | { readonly kind: "llamaVscode"; readonly setting: string }
  | { readonly kind: "usualPort" };

export interface ServerAddress {
  readonly url: string;
  readonly source: AddressSource;
}

export function sourceText(source: AddressSource): Text {
  switch (source.kind) {
    case "configured":
      return say`set in llamaGauge.server.url`;
    case "process":
      return say`process ${String(source.pid)}`;
    case "terminal":
      return say`started in the terminal ${source.name}`;
    case "llamaVscode":
      return say`llama.vscode's setting ${source.setting}`;
    case "usualPort":
      return say`a default port`;
  }
}

/** Each address once, with its first source; only this machine is asked without having been named. */
export function addressesToAsk(candidates: readonly ServerAddress[]): ServerAddress[] {
  const seen = new Set<string>();
  return candidates.filter(({ url, source }) => {
    const key = url.replace("//localhost", "//127.0.0.1").replace(/\/+$/, "");
    if (seen.has(key) || (source.kind !== "process" && !isLocal(url))) return false;
    seen.add(key);
    return true;
  });
}

/** Addresses of running processes: what answers prompts before what only embeds; a router's models are asked through it. */
export function addressesOfProcesses(servers: readonly RunningServer[]): ServerAddress[] {
  const onlyEmbeds = ({ options }: RunningServer): number =>
    options.embedding === true || options.reranking === true ? 1 : 0;
  return servers
    .filter(({ role }) => role !== "routersChild")
    .toSorted((a, b) => onlyEmbeds(a) - onlyEmbeds(b))
    .flatMap(({ urls, pid }) => urls.map((url) => ({ url, source: { kind: "process", pid } as const })));
}
