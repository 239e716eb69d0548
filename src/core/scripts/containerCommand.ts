import { imageArgumentStart } from "./containerImage";
import type { Place } from "./mappedText";
import { findServerCommand } from "./serverCommand";
import type { CommandWord, SimpleCommand } from "./splitCommandLine";

/** Words of a container's command, and where they are used if they are written elsewhere. */
export interface ContainerWords {
  readonly words: readonly CommandWord[];
  readonly used?: Place;
}

/** A shell's text may hold many commands, each with these variables. */
export const maxEnvironment = 200;

/** What decides what a container runs. An entrypoint without words takes the image's away. */
export interface Container {
  readonly image?: { readonly word: CommandWord; readonly used?: Place };
  readonly entrypoint: ContainerWords | undefined;
  readonly arguments: ContainerWords | undefined;
  /** Assignments. */
  readonly environment: readonly CommandWord[];
  /** Whether it surely is a container, so that an image without an entrypoint runs its own. */
  readonly isImageKnown: boolean;
}

/** The entrypoint with the arguments behind it; what gets no argument and no variable of llama-server is not looked at. */
export function containerCommands(container: Container): SimpleCommand[] {
  const environment = container.environment.slice(0, maxEnvironment);
  const found = ofEntrypoint(container) ?? ofImage(container) ?? container.arguments;
  const isGiven =
    (found?.words.length ?? 0) > 1 || environment.some(({ value }) => value.startsWith("LLAMA_"));
  if (found === undefined || found.words.length === 0 || !isGiven) return [];
  return [{ ...found, words: [...environment, ...found.words] }];
}

function ofEntrypoint({ entrypoint, arguments: args }: Container): SimpleCommand | undefined {
  if (entrypoint === undefined) return undefined;
  const rest = args?.words ?? [];
  if (entrypoint.words.length === 0) return { words: rest, ...(args?.used && { used: args.used }) };
  return { ...entrypoint, words: [...entrypoint.words, ...rest] };
}

function ofImage({ image, arguments: args, isImageKnown }: Container): SimpleCommand | undefined {
  const words = args?.words ?? [];
  const start = image && imageArgumentStart(image.word.value, words[0]?.value);
  if (image === undefined || start === undefined) return undefined;
  const namesProgram = findServerCommand(words.map(({ value }) => value)) !== undefined;
  if (!isImageKnown && (namesProgram || words.length === 0)) return undefined;
  const program: CommandWord = { value: "llama-server", start: image.word.start, end: image.word.end };
  return {
    words: [program, ...words.slice(start)],
    ...(image.used && { used: image.used }),
    isInContainer: true,
  };
}
