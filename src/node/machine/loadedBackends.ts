import { readFile } from "node:fs/promises";

/** The ggml backends that a process has loaded, by the names of their libraries; undefined where none is seen (not Linux). */
export async function loadedBackends(pid: number): Promise<readonly string[] | undefined> {
  const maps = await readFile(`/proc/${pid}/maps`, "utf8").catch(() => "");
  const names = Array.from(maps.matchAll(/libggml-([a-z]+)[^/\s]*\.so/g), ([, name = ""]) => name);
  const backends = [...new Set(names)].filter((name) => name !== "base").toSorted();
  return backends.length === 0 ? undefined : backends;
}
