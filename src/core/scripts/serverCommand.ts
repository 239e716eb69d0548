import { imageArgumentStart } from "./containerImage";

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

/** Programs that start another one, with those of their options that take a value. */
const wrappers: ReadonlyMap<string, RegExp> = new Map([
  ["sudo", /^-[ughpCDRTUrt]$/],
  ["doas", /^-[uC]$/],
  ["env", /^-[uCS]$/],
  ["nohup", /^$/],
  ["exec", /^-a$/],
  ["time", /^-[fo]$/],
  ["timeout", /^-[ks]$/],
  ["nice", /^-n$/],
  ["ionice", /^-[cnp]$/],
  ["taskset", /^$/],
  ["chrt", /^$/],
  ["numactl", /^-[NmiCpxf]$/],
  ["stdbuf", /^-[ioe]$/],
  ["setsid", /^$/],
  ["systemd-run", /^-[pEtuMH]$|^--unit$/],
  ["systemd-inhibit", /^--(?:what|who|why|mode)$/],
  ["caffeinate", /^-[tw]$/],
  ["strace", /^-[eopPsSu]$/],
  ["gdb", /^-(?:ex|x)$/],
  ["command", /^$/],
  ["start", /^\/[dD]$/],
  ["cmd", /^$/],
  ["&", /^$/],
]);

/** Programs that start containers. */
const containers: ReadonlySet<string> = new Set(["docker", "podman", "nerdctl"]);

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
  const start = imageArgumentStart(word, words[index + 1]);
  return start !== undefined && startsContainer(words, index) ? 1 + start : 0;
}

/** A program stands first, behind a wrapper with its options, or behind a loader; not as the value of grep or cat. */
function isProgramPlace(words: readonly string[], index: number): boolean {
  if (index === 0) return true;
  const first = words[0] ?? "";
  if (/^(ld-linux|ld-musl|ld\.so|wine|arch|linux64)/.test(baseName(first))) return true;
  if (/^(RUN|CMD|ENTRYPOINT|ExecStart=.*)$/.test(first)) return true;
  if (containers.has(programAt(words, programIndex(words)))) {
    return startsContainer(words, index) && !/^(?:-.*|run|exec)$/.test(words[index - 1] ?? "");
  }
  return programIndex(words) === index;
}

const programAt = (words: readonly string[], index: number): string => baseName(words[index] ?? "");

/** Index of the word that runs: behind assignments and wrappers with their options, values and priorities. */
export function programIndex(words: readonly string[]): number {
  let wrapper = "";
  let index = 0;
  while (index < words.length) {
    const word = words[index] ?? "";
    const name = baseName(word);
    if (/^[A-Za-z_]\w*=/.test(word)) index++;
    else if (wrapper === "command" && /^-[vV]+$/.test(word)) return words.length;
    else if (wrapper !== "" && isOption(wrapper, word))
      index += wrappers.get(wrapper)?.test(word) === true ? 2 : 1;
    else if (isTitle(words, index, wrapper)) index++;
    else if (wrappers.has(name)) {
      wrapper = name;
      index++;
    } else return index;
  }
  return index;
}

/** Also times and masks of processors, which stand as words of their own. */
function isOption(wrapper: string, word: string): boolean {
  if (wrapper === "start" || wrapper === "cmd") return /^\/\w+$/.test(word);
  return word.startsWith("-") || /^(?:0x[\da-f]+|[\d,.-]+[smhd]?)$/i.test(word);
}

/** The first text behind `start` is the title of the window where another program follows. */
function isTitle(words: readonly string[], index: number, wrapper: string): boolean {
  if (wrapper !== "start" || baseName(words[index - 1] ?? "") !== "start") return false;
  return words.slice(index + 1).some((word) => /^(?:cmd|llama-server|llama)$/.test(baseName(word)));
}

function startsContainer(words: readonly string[], index: number): boolean {
  const program = programIndex(words);
  const verbs = words.slice(program + 1, index);
  return (
    containers.has(programAt(words, program)) && verbs.some((word) => /^(?:run|create|exec)$/.test(word))
  );
}

function baseName(word: string): string {
  return (word.split(/[\\/]/).at(-1) ?? "").replace(/\.exe$/i, "").toLowerCase();
}
