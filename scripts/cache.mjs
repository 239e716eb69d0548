// The project's cache: big things that are fetched once per machine and outlive a clone.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";

/** LLAMA_GAUGE_CACHE, else `~/.cache/llama-gauge`. */
export function cacheFolder() {
  return path.resolve(process.env.LLAMA_GAUGE_CACHE ?? path.join(os.homedir(), ".cache", "llama-gauge"));
}

const stamp = ".complete";
const abandonedAfterMs = 2 * 3600_000;

/**
 * The folder `name` of the cache, filled by `fill(folder)` if it is not there yet. It appears whole or not at all:
 * it is filled under another name and renamed. Two fillers at once: the first to end wins.
 */
export async function cachedFolder(name, fill) {
  const target = path.join(cacheFolder(), name);
  if (existsSync(path.join(target, stamp))) return target;
  mkdirSync(cacheFolder(), { recursive: true });
  removeAbandoned(`${name}.part-`);
  const part = mkdtempSync(path.join(cacheFolder(), `${name}.part-`));
  const clean = () => rmSync(part, { recursive: true, force: true, maxRetries: 3 });
  const interrupted = () => process.exit(130);
  process.once("exit", clean).once("SIGINT", interrupted).once("SIGTERM", interrupted);
  try {
    await fill(part);
    chmodSync(part, 0o755);
    writeFileSync(path.join(part, stamp), "");
    try {
      renameSync(part, target);
    } catch (error) {
      if (!existsSync(path.join(target, stamp))) throw error;
    }
  } finally {
    process.removeListener("SIGINT", interrupted).removeListener("SIGTERM", interrupted);
    process.removeListener("exit", clean);
    clean();
  }
  return target;
}

function removeAbandoned(prefix) {
  for (const entry of readdirSync(cacheFolder())) {
    const folder = path.join(cacheFolder(), entry);
    if (entry.startsWith(prefix) && Date.now() - statSync(folder).mtimeMs > abandonedAfterMs) {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}
