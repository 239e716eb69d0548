import os from "node:os";
import path from "node:path";

/** A folder models are usually kept in, and how many levels below it they may lie. */
export interface ModelPlace {
  /** Name for people. */
  readonly place: string;
  readonly folder: string;
  readonly layout: "folders" | "ollama";
  readonly depth: number;
}

export interface HomeOf {
  readonly platform: "linux" | "darwin" | "win32";
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** This user on this machine. */
export function thisHome(): HomeOf {
  const platform = process.platform === "darwin" || process.platform === "win32" ? process.platform : "linux";
  return { platform, home: os.homedir(), env: process.env };
}

/** Where llama.cpp keeps what `-hf` downloads (common/hf-cache.cpp): the first of these variables that is set. */
export function hubCacheFolder({ platform, home, env }: HomeOf): string {
  const paths = platform === "win32" ? path.win32 : path.posix;
  const own = set(env["LLAMA_CACHE"]) ?? set(env["HF_HUB_CACHE"]) ?? set(env["HUGGINGFACE_HUB_CACHE"]);
  if (own !== undefined) return own;
  const hubHome = set(env["HF_HOME"]);
  if (hubHome !== undefined) return paths.join(hubHome, "hub");
  return paths.join(set(env["XDG_CACHE_HOME"]) ?? paths.join(home, ".cache"), "huggingface", "hub");
}

/** Where older builds keep what `-hf` downloads, and all builds what `-mu` does (common/common.cpp, `fs_get_cache_directory`). */
export function oldCacheFolder({ platform, home, env }: HomeOf): string {
  const paths = platform === "win32" ? path.win32 : path.posix;
  const cache = {
    linux: set(env["XDG_CACHE_HOME"]) ?? paths.join(home, ".cache"),
    darwin: paths.join(home, "Library", "Caches"),
    win32: set(env["LOCALAPPDATA"]) ?? paths.join(home, "AppData", "Local"),
  }[platform];
  return set(env["LLAMA_CACHE"]) ?? paths.join(cache, "llama.cpp");
}

/**
 * The usual places: llama.cpp's `-hf` cache (common/download.cpp), Hugging Face's hub cache (huggingface_hub
 * constants), LM Studio, Ollama (envconfig) for the user and, on Linux, for its service. Missing folders are fine.
 */
export function usualModelPlaces(of: HomeOf): readonly ModelPlace[] {
  const { platform, home, env } = of;
  const paths = platform === "win32" ? path.win32 : path.posix;
  const under = (...parts: readonly string[]): string => paths.join(home, ...parts);
  const cache = set(env["XDG_CACHE_HOME"]) ?? under(".cache");
  const hubHome = set(env["HF_HOME"]);
  const hub =
    set(env["HF_HUB_CACHE"]) ??
    set(env["HUGGINGFACE_HUB_CACHE"]) ??
    (hubHome === undefined ? paths.join(cache, "huggingface", "hub") : paths.join(hubHome, "hub"));

  const folders = (place: string, folder: string, depth: number): ModelPlace => ({
    place,
    folder,
    layout: "folders",
    depth,
  });
  const ollama = (folder: string): ModelPlace => ({ place: "Ollama", folder, layout: "ollama", depth: 0 });
  const ollamaModels = set(env["OLLAMA_MODELS"]);
  return [
    // newer builds lay it out as a hub cache, older ones kept all files in one folder
    folders("llama.cpp", oldCacheFolder(of), 6),
    folders("Hugging Face", hub, 6),
    folders("LM Studio", under(".lmstudio", "models"), 4),
    folders("LM Studio", paths.join(cache, "lm-studio", "models"), 4),
    ollama(ollamaModels ?? under(".ollama", "models")),
    ...(platform === "linux" && ollamaModels === undefined
      ? ["/usr/share/ollama/.ollama/models", "/var/lib/ollama/models", "/var/lib/ollama/.ollama/models"].map(
          ollama,
        )
      : []),
  ];
}

const set = (value: string | undefined): string | undefined => (value === "" ? undefined : value);
