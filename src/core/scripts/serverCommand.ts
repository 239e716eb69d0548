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
  const places = programPlaces(words);
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    const assignment = /^([A-Za-z_]\w*)=(.*)$/s.exec(word);
    if (assignment !== null && places.mayAssign) {
      environment[assignment[1] ?? ""] = assignment[2] ?? "";
      continue;
    }
    const length = programLength(words, index, places);
    if (length === 0) continue;
    // a loader names the program once more: as argv[0], then as a path
    let start = index + length;
    if (words[index - 1] === "--argv0") start += programLength(words, start, places);
    return { program: word, arguments: words.slice(start), argumentStart: start, environment };
  }
  return undefined;
}

/** Where in the words of one command a program may stand. */
interface ProgramPlaces {
  /** Assignments may stand in front of it. */
  readonly mayAssign: boolean;
  readonly isLoaded: boolean;
  /** The word that runs. */
  readonly program: number;
  readonly isContainer: boolean;
  /** The word that has a container started; behind the last one where there is none. */
  readonly verb: number;
}

function programPlaces(words: readonly string[]): ProgramPlaces {
  const first = words[0] ?? "";
  const program = programIndex(words);
  const isContainer = containers.has(baseName(words[program] ?? ""));
  const verb = isContainer
    ? words.findIndex((word, index) => index > program && /^(?:run|create|exec)$/.test(word))
    : -1;
  return {
    mayAssign: wrappers.has(first) || first.startsWith("-") || first.includes("="),
    isLoaded:
      /^(ld-linux|ld-musl|ld\.so|wine|arch|linux64)/.test(baseName(first)) ||
      /^(RUN|CMD|ENTRYPOINT|ExecStart=.*)$/.test(first),
    program,
    isContainer,
    verb: verb < 0 ? words.length : verb,
  };
}

function programLength(words: readonly string[], index: number, places: ProgramPlaces): number {
  const word = words[index] ?? "";
  const name = baseName(word);
  if (name === "llama-server") return isProgramPlace(words, index, places) ? 1 : 0;
  if (name === "llama" && words[index + 1] === "serve") return isProgramPlace(words, index, places) ? 2 : 0;
  const start = imageArgumentStart(word, words[index + 1]);
  return start !== undefined && places.verb < index ? 1 + start : 0;
}

/** A program stands first, behind a wrapper with its options, or behind a loader; not as the value of grep or cat. */
function isProgramPlace(
  words: readonly string[],
  index: number,
  { isLoaded, program, isContainer, verb }: ProgramPlaces,
): boolean {
  if (index === 0 || isLoaded) return true;
  if (isContainer) return verb < index && !/^(?:-.*|run|exec)$/.test(words[index - 1] ?? "");
  return program === index;
}

/** Index of the word that runs: behind assignments and wrappers with their options, values and priorities. */
export function programIndex(words: readonly string[]): number {
  let wrapper = "";
  let index = 0;
  let lastTitled: number | undefined;
  // the first text behind `start` is the title of the window where another program follows
  const isTitle = (): boolean => {
    if (wrapper !== "start" || baseName(words[index - 1] ?? "") !== "start") return false;
    lastTitled ??= words.findLastIndex((word) => /^(?:cmd|llama-server|llama)$/.test(baseName(word)));
    return lastTitled > index;
  };
  while (index < words.length) {
    const word = words[index] ?? "";
    const name = baseName(word);
    if (/^[A-Za-z_]\w*=/.test(word)) index++;
    else if (wrapper === "command" && /^-[vV]+$/.test(word)) return words.length;
    else if (wrapper !== "" && isOption(wrapper, word))
      index += wrappers.get(wrapper)?.test(word) === true ? 2 : 1;
    else if (isTitle()) index++;
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

function baseName(word: string): string {
  return (word.split(/[\\/]/).at(-1) ?? "").replace(/\.exe$/i, "").toLowerCase();
}
