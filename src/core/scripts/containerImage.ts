/**
 * What the entrypoint of one of llama.cpp's images is (its `.devops/*.Dockerfile`): llama-server, or for `full` a script
 * that starts it if the first argument is `--server`.
 */
export function imageEntrypoint(image: string): "server" | "tools" | undefined {
  const kind = /(?:^|\/)llama\.cpp[^:/\s]*:(server|full)(?:[-@]|$)/.exec(image)?.[1];
  return kind === undefined ? undefined : kind === "server" ? "server" : "tools";
}

/** Number of words in front of llama-server's own arguments; undefined if the image starts something else. */
export function imageArgumentStart(image: string, first: string | undefined): number | undefined {
  const entrypoint = imageEntrypoint(image);
  if (entrypoint === "tools") return first === "--server" || first === "-s" ? 1 : undefined;
  return entrypoint && 0;
}
