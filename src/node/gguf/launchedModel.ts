import { readdir } from "node:fs/promises";
import path from "node:path";
import type { LaunchOptions } from "../../core/launch/launchOptions";
import { chooseCachedFile, splitRepository } from "../../core/servers/cachedRepositories";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { withLimit } from "../waiting/withLimit";
import { isThere } from "../reading/isThere";
import { cachedModelFile } from "./hubCache";
import { oldCacheFolder, thisHome, type HomeOf } from "./modelFinderPlaces";

/**
 * The file that llama-server would take for `-m`, `-mu` or `-hf`: what lies in llama.cpp's caches, else its address,
 * whose header can be read without a download. Undefined where none of them is given.
 * @throws UserError where a repository cannot be asked, or does not say which file is meant
 */
export async function launchedModelFile(
  { model, modelUrl, hfRepo, hfFile }: LaunchOptions,
  signal: AbortSignal,
  home: HomeOf = thisHome(),
): Promise<string | undefined> {
  if (model !== undefined) return model;
  if (modelUrl !== undefined) return (await cachedUrl(modelUrl, home)) ?? modelUrl;
  if (hfRepo === undefined) return undefined;
  return (
    (await cachedModelFile(hfRepo, hfFile, signal, home)) ??
    (await inOldCache(hfRepo, hfFile, home)) ??
    (await onTheHub(hfRepo, hfFile, signal, home))
  );
}

/** `-mu`: the last part of the address, in the cache's one folder (common/arg.cpp, `fs_get_cache_file`). */
async function cachedUrl(url: string, home: HomeOf): Promise<string | undefined> {
  const name = url.split(/[?#]/, 1)[0]?.split("/").at(-1) ?? "";
  const file = path.join(oldCacheFolder(home), name);
  return name !== "" && (await isThere(file)) ? file : undefined;
}

/** Builds before the hub's layout kept `owner_name_file.gguf`, slashes written as `_`. */
async function inOldCache(
  hfRepo: string,
  hfFile: string | undefined,
  home: HomeOf,
): Promise<string | undefined> {
  const folder = oldCacheFolder(home);
  const { repository, tag } = splitRepository(hfRepo);
  const prefix = `${repository.replaceAll("/", "_")}_`;
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  const wanted = hfFile?.replaceAll("/", "_");
  const file = wanted === undefined ? chooseCachedFile(files, tag) : files.find((each) => each === wanted);
  return file === undefined ? undefined : path.join(folder, `${prefix}${file}`);
}

const listLimitMs = 20_000;
const mostListBytes = 8 * 2 ** 20;

/** The address of the file in its repository; nothing of the file itself is read. */
async function onTheHub(
  hfRepo: string,
  hfFile: string | undefined,
  signal: AbortSignal,
  { env }: HomeOf,
): Promise<string> {
  const { repository, tag } = splitRepository(hfRepo);
  // as llama.cpp (common/common.cpp, get_model_endpoint)
  const endpoint = (env["MODEL_ENDPOINT"] ?? env["HF_ENDPOINT"] ?? "https://huggingface.co/").replace(
    /\/*$/,
    "",
  );
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) {
    throw new UserError(
      "invalidInput",
      say`${hfRepo} is no repository.`,
      say`Write -hf owner/name, with :QUANT if you want a certain file.`,
    );
  }
  const file =
    hfFile ??
    chooseCachedFile(
      await filesOf(`${endpoint}/api/models/${repository}/tree/main?recursive=true`, repository, signal),
      tag,
    );
  if (file === undefined) {
    throw new UserError(
      "notFound",
      say`${hfRepo} does not say which GGUF is meant: there is none, or several would do.`,
      say`Add a quantisation that is there (-hf ${repository}:Q4_K_M), or name the file with -hff.`,
    );
  }
  return `${endpoint}/${repository}/resolve/main/${file.split("/").map(encodeURIComponent).join("/")}`;
}

async function filesOf(url: string, repository: string, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const text = await withLimit(signal, listLimitMs, async (its) => {
      const response = await fetch(url, { signal: its });
      if (!response.ok) throw new Error(`HTTP ${String(response.status)}`);
      return limited(response);
    });
    const list = JSON.parse(text) as unknown;
    if (!Array.isArray(list)) throw new Error("no list of files");
    return list.flatMap((entry: unknown) =>
      typeof entry === "object" && entry !== null && "path" in entry && typeof entry.path === "string"
        ? [entry.path]
        : [],
    );
  } catch (cause) {
    signal.throwIfAborted();
    throw new UserError(
      "outsideFailed",
      say`The files of ${repository} could not be listed: ${cause instanceof Error ? cause.message : String(cause)}.`,
      say`Check the name and the connection, or download the model and name its file with -m.`,
      { cause },
    );
  }
}

async function limited({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += piece.byteLength;
    if (bytes > mostListBytes) throw new Error("the list is too long");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}
