import { readdir } from "node:fs/promises";
import path from "node:path";
import {
  cachedNames,
  chooseCachedFile,
  repositoryOfFolder,
  splitRepository,
} from "../../core/servers/cachedRepositories";
import { hubCacheFolder, thisHome, type HomeOf } from "./modelFinderPlaces";
import { append } from "../../core/lists";
import { textOfRegular } from "../reading/regularFile";

/** More is no cache of models. */
const maxRepositories = 2000;
const maxFiles = 2000;
const maxDepth = 6;

/** What `-hf` can be given without a download, sorted. What cannot be read is passed over. */
export async function cachedRepositories(
  signal: AbortSignal,
  home: HomeOf = thisHome(),
): Promise<readonly string[]> {
  const cache = hubCacheFolder(home);
  const folders = (await attempt(readdir(cache))) ?? [];
  const found: string[] = [];
  for (const folder of folders.slice(0, maxRepositories)) {
    signal.throwIfAborted();
    const repository = repositoryOfFolder(folder);
    if (repository === undefined) continue;
    const snapshot = await snapshotOf(path.join(cache, folder));
    if (snapshot !== undefined) append(found, cachedNames(repository, await filesBelow(snapshot)));
  }
  return found.sort();
}

/** Where the file lies that `-hf` would take from the cache; undefined where that is not certain. */
export async function cachedModelFile(
  hfRepo: string,
  hfFile: string | undefined,
  signal: AbortSignal,
  home: HomeOf = thisHome(),
): Promise<string | undefined> {
  const { repository, tag } = splitRepository(hfRepo);
  const folder = `models--${repository.replaceAll("/", "--")}`;
  if (repositoryOfFolder(folder) !== repository) return undefined;
  const snapshot = await snapshotOf(path.join(hubCacheFolder(home), folder));
  signal.throwIfAborted();
  if (snapshot === undefined) return undefined;
  const files = await filesBelow(snapshot);
  signal.throwIfAborted();
  const named = hfFile === undefined ? chooseCachedFile(files, tag) : files.find((file) => file === hfFile);
  return named === undefined ? undefined : path.join(snapshot, ...named.split("/"));
}

/** The folder of the commit that `main` names, else of the first one any other name stands for. */
async function snapshotOf(repository: string): Promise<string | undefined> {
  const refs = path.join(repository, "refs");
  const names = ((await attempt(readdir(refs))) ?? []).sort(
    (a, b) => Number(b === "main") - Number(a === "main"),
  );
  for (const name of names.slice(0, 100)) {
    const file = path.join(refs, name);
    const text = await attempt(textOfRegular(file, { most: 1000 }));
    const commit = text?.split("\n", 1)[0] ?? "";
    if (/^[0-9a-f]{40}$/i.test(commit)) return path.join(repository, "snapshots", commit);
  }
  return undefined;
}

/** Relative, with slashes, sorted. Files of a snapshot are mostly links to blobs. */
async function filesBelow(folder: string, prefix = "", depth = maxDepth): Promise<string[]> {
  const entries = (await attempt(readdir(folder, { withFileTypes: true }))) ?? [];
  const files: string[] = [];
  for (const entry of entries.slice(0, maxFiles)) {
    const name = `${prefix}${entry.name}`;
    if (!entry.isDirectory()) files.push(name);
    else if (depth > 0) append(files, await filesBelow(path.join(folder, entry.name), `${name}/`, depth - 1));
  }
  return files.sort();
}

async function attempt<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch {
    return undefined;
  }
}
