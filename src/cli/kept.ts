import { homedir } from "node:os";
import path from "node:path";
import type { Command } from "commander";
import { openGgufTokenizer, type GgufTokenizer } from "../node/tokenizer/ggufTokenizer";
import { Caches } from "../app/caches";
import { HistoryStore } from "../app/historyStore";
import type { Setup } from "../app/situation";

/** The build puts the package's in its place. */
export const version = process.env["LLAMA_GAUGE_VERSION"] ?? "unbuilt";

/** The user's folder for what is made once: compiled vocabularies, counts. It may be removed at any time. */
export function cacheFolder(): string {
  return userFolder("XDG_CACHE_HOME", ".cache");
}

/** The user's folder for what was measured and cannot be made again at once. */
export function historyFolder(): string {
  return userFolder("XDG_STATE_HOME", ".local/state");
}

function userFolder(variable: string, unixDefault: string): string {
  const [name, other] =
    process.platform === "win32"
      ? ["LOCALAPPDATA", homedir()]
      : [variable, path.join(homedir(), unixDefault)];
  // the specification of these variables: empty means unset, and what is not absolute is ignored
  const set = process.env[name] ?? "";
  return path.join(path.isAbsolute(set) ? set : other, "llama-gauge");
}

/** What this command keeps for the next one. */
export const openCaches = (): Caches => new Caches({ folder: cacheFolder(), version });

/** What `gather` takes from earlier commands and leaves for later ones. */
export function keptSetup(
  caches: Caches,
  history: HistoryStore | undefined,
): Pick<Setup, "openVocabulary" | "renderTemplate" | "counts" | "history"> {
  return {
    openVocabulary: (file, signal) => caches.vocabulary(file, signal),
    renderTemplate: (job, signal) => caches.templates.render(job, signal),
    counts: (fingerprint) => caches.counts(fingerprint),
    ...(history && { history }),
  };
}

/** A folder, the user's own where none is named; false: none. */
export interface HistoryFlags {
  readonly history?: string | false;
}

/** Adds the options that say where measurements are kept. `use`: what the command does with that folder. */
export function withHistory(command: Command, use: string): Command {
  return command
    .option("--history <folder>", `${use}, instead of your own`)
    .option("--no-history", "neither read nor save measurements");
}

export function historyOf({ history }: HistoryFlags): HistoryStore | undefined {
  return history === false ? undefined : new HistoryStore(history ?? historyFolder());
}

/** Opens the vocabulary of a GGUF; what is compiled once is kept in the user's cache folder. */
export function openVocabulary(model: string, signal: AbortSignal): Promise<GgufTokenizer> {
  return openGgufTokenizer(model, { signal, cacheDir: path.join(cacheFolder(), "vocabularies") });
}
