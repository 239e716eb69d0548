/** A llama-server found in a list of words. */
export interface ServerCommand {
  /** As it was written: a name or a path. */
  readonly program: string;
  readonly arguments: readonly string[];
  /** Index of the first argument in the words. */
  readonly argumentStart: number;
  /** Assignments in front of the program (`LLAMA_ARG_CTX_SIZE=8192 llama-server`). */
  readonly environment: Readonly<Record<string, string>>;
}

/** Programs that start another one. */
const wrappers: ReadonlySet<string> = new Set([
  "sudo",
  "env",
  "nohup",
  "exec",
  "time",
  "nice",
  "ionice",
  "taskset",
  "numactl",
  "stdbuf",
  "setsid",
  "command",
  "start",
  "docker",
  "podman",
  "&",
]);

/**
 * The llama-server in the words of one command: by its name or path, with `.exe`, as `llama serve`, behind wrappers
 * and loaders, or as a container image of llama.cpp. Undefined where the command is another one.
 */
export function findServerCommand(words: readonly string[]): ServerCommand | undefined {
  const environment: Record<string, string> = {};
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    const assignment = /^([A-Za-z_]\w*)=(.*)$/s.exec(word);
    if (assignment !== null && isPrelude(words, index)) {
      environment[assignment[1] ?? ""] = assignment[2] ?? "";
      continue;
    }
    const length = programLength(words, index);
    if (length === 0) continue;
    // a loader names the program once more: as argv[0], then as a path
    let start = index + length;
    if (words[index - 1] === "--argv0") start += programLength(words, start);
    return { program: word, arguments: words.slice(start), argumentStart: start, environment };
  }
  return undefined;
}

function isPrelude(words: readonly string[], end: number): boolean {
  return words
    .slice(0, end)
    .every((word, index) => wrappers.has(word) || word.startsWith("-") || word.includes("=") || index > 0);
}

function programLength(words: readonly string[], index: number): number {
  const word = words[index] ?? "";
  const name = baseName(word);
  if (name === "llama-server") return isProgramPlace(words, index) ? 1 : 0;
  if (name === "llama" && words[index + 1] === "serve") return isProgramPlace(words, index) ? 2 : 0;
  return /llama\.cpp[^:/\s]*:(?:server|full)/.test(word) && index > 0 ? 1 : 0;
}

/** A program stands first, behind a wrapper with its options, or behind a loader; not as the value of grep or cat. */
function isProgramPlace(words: readonly string[], index: number): boolean {
  if (index === 0) return true;
  const first = words[0] ?? "";
  return (
    wrappers.has(baseName(first)) ||
    /^[A-Za-z_]\w*=/.test(first) ||
    /^(ld-linux|ld-musl|ld\.so|wine|arch|linux64)/.test(baseName(first)) ||
    /^(RUN|CMD|ENTRYPOINT|ExecStart=.*)$/.test(first)
  );
}

function baseName(word: string): string {
  return (word.split(/[\\/]/).at(-1) ?? "").replace(/\.exe$/i, "").toLowerCase();
}
