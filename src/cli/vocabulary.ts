import { homedir } from "node:os";
import path from "node:path";
import { openGgufTokenizer, type GgufTokenizer } from "../node/ggufTokenizer";

/** Opens the vocabulary of a GGUF; what is compiled once is kept in the user's cache folder. */
export function openVocabulary(model: string, signal: AbortSignal): Promise<GgufTokenizer> {
  return openGgufTokenizer(model, { signal, cacheDir: cacheFolder() });
}

function cacheFolder(): string {
  const base =
    process.platform === "win32"
      ? process.env["LOCALAPPDATA"]
      : (process.env["XDG_CACHE_HOME"] ?? path.join(homedir(), ".cache"));
  return path.join(base ?? homedir(), "llama-gauge", "vocabularies");
}
