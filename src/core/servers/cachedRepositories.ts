/**
 * llama.cpp's view of the Hugging Face cache (common/hf-cache.cpp, common/download.cpp; build 11669): folders
 * `models--owner--name`, in each the snapshot that `refs/main` names. Paths of files are relative to the snapshot, with
 * slashes.
 */

/** Files that belong to a model and are none. */
const sidecars = /mmproj|mtp-|eagle3-|dflash-|dspark-/;

interface CachedGguf {
  readonly path: string;
  /** The path without part number and ending. */
  readonly prefix: string;
  /** "Q4_K_M" of "a-Q4_K_M-00001-of-00002.gguf"; empty where the name has none. */
  readonly tag: string;
  /** From 1. */
  readonly part: number;
}

function cachedGguf(path: string): CachedGguf | undefined {
  if (!path.endsWith(".gguf")) return undefined;
  const whole = path.slice(0, -".gguf".length);
  const split = /^(.+)-(\d{5})-of-\d{5}$/.exec(whole);
  const prefix = split?.[1] ?? whole;
  const tag = /[-.]([A-Z0-9_]+)$/i.exec(prefix)?.[1] ?? "";
  return { path, prefix, tag: tag.toUpperCase(), part: split === null ? 1 : Number(split[2]) };
}

/** "owner/name" of a folder of the cache; undefined where llama.cpp passes it over. */
export function repositoryOfFolder(folder: string): string | undefined {
  if (!folder.startsWith("models--")) return undefined;
  const name = folder.slice("models--".length).replaceAll("--", "/");
  return name.length <= 256 && /^\w+(?:[.-]\w+)*\/\w+(?:[.-]\w+)*$/.test(name) ? name : undefined;
}

/** What `-hf` can be given for the files of a repository, as `llama-server --cache-list` lists them: "owner/name:Q8_0". */
export function cachedNames(repository: string, files: readonly string[]): string[] {
  const tags = files.flatMap((path) => {
    const gguf = cachedGguf(path);
    const listed = gguf?.part === 1 && gguf.tag !== "" && !sidecars.test(gguf.prefix);
    return listed ? [gguf.tag] : [];
  });
  return [...new Set(tags)].map((tag) => `${repository}:${tag}`);
}

/**
 * The file that `-hf owner/name[:tag]` takes of those in the cache. Undefined where there is none, and where several
 * would do: llama.cpp then takes the one the file system lists first.
 */
export function chooseCachedFile(files: readonly string[], tag: string): string | undefined {
  // then the repository is a preset, not a model
  if (files.includes("preset.ini")) return undefined;
  const models = files.flatMap((path) => {
    const gguf = cachedGguf(path);
    const name = path.slice(path.lastIndexOf("/") + 1);
    return gguf?.part === 1 && !sidecars.test(name) && !name.includes("imatrix") ? [path] : [];
  });
  for (const wanted of tag === "" ? ["Q4_K_M", "Q8_0"] : [tag]) {
    const fitting = models.filter((path) => hasTag(path, wanted));
    if (fitting.length > 0) return onlyOne(fitting);
  }
  return tag === "" ? onlyOne(models) : undefined;
}

/** The tag, followed by a dash or a dot, anywhere in the path. */
function hasTag(path: string, tag: string): boolean {
  const [text, wanted] = [path.toUpperCase(), tag.toUpperCase()];
  return text.includes(`${wanted}-`) || text.includes(`${wanted}.`);
}

const onlyOne = ([first, ...more]: readonly string[]): string | undefined =>
  more.length === 0 ? first : undefined;

/** Repository and tag of what `-hf` is given. */
export function splitRepository(text: string): { readonly repository: string; readonly tag: string } {
  const [repository = "", ...tags] = text.split(":");
  return { repository, tag: tags.at(-1) ?? "" };
}
