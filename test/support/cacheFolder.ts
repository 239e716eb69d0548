import { homedir } from "node:os";
import path from "node:path";

/** Where downloaded and forged test material is kept between runs: `$LLAMA_GAUGE_CACHE`, else `~/.cache/llama-gauge`. */
export function cacheFolder(...parts: readonly string[]): string {
  const root = process.env["LLAMA_GAUGE_CACHE"] ?? path.join(homedir(), ".cache", "llama-gauge");
  return path.join(root, ...parts);
}
