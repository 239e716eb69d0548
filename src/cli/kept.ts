import { homedir } from "node:os";
import path from "node:path";
import type { CountCache } from "../core/tokens/keptCount";
import { openCountCache } from "../node/tokenizer/countCache";

/** The user's folder for what is made once: compiled vocabularies, counts. It may be removed at any time. */
export function cacheFolder(): string {
  const base =
    process.platform === "win32"
      ? process.env["LOCALAPPDATA"]
      : (process.env["XDG_CACHE_HOME"] ?? path.join(homedir(), ".cache"));
  return path.join(base ?? homedir(), "llama-gauge");
}

/** Counts of earlier runs with the same tokenizer. */
export const keptCounts = (fingerprint: string): Promise<CountCache> =>
  openCountCache({ folder: path.join(cacheFolder(), "counts"), fingerprint });
