import { containerCommands, maxEnvironment, type ContainerWords } from "./containerCommand";
import { instructionsOf, type Instruction } from "./dockerfile";
import { jsonListWords } from "./jsonCommands";
import type { MappedText } from "./mappedText";
import { splitMapped, type CommandWord, type SimpleCommand } from "./splitCommandLine";

/** What a stage runs when it is started. */
type Run =
  /** Words as they are. */
  | { readonly kind: "exec"; readonly words: readonly CommandWord[] }
  /** Commands of a shell; they take no arguments. */
  | { readonly kind: "shell"; readonly commands: readonly SimpleCommand[] };

interface Stage {
  readonly image: CommandWord;
  entrypoint?: Run;
  command?: Run;
  environment: readonly CommandWord[];
  /** Whether it says itself what to run, instead of leaving that to what it is based on. */
  isOwn: boolean;
  isEntrypointOwn: boolean;
}

/** What the stages of a Dockerfile run: RUN, and the last ENTRYPOINT with the last CMD, also those of an earlier stage. */
export function dockerCommands(text: string): SimpleCommand[] {
  const commands: (readonly SimpleCommand[])[] = [];
  const stages = new Map<string, Stage>();
  let stage: Stage = emptyStage({ value: "", start: 0, end: 0 });
  for (const instruction of instructionsOf(text)) {
    const run = runOf(instruction);
    switch (instruction.name) {
      case "FROM": {
        commands.push(stageCommands(stage));
        const [image, as, name] = wordsOf(instruction.text).filter(({ value }) => !value.startsWith("--"));
        stage = basedOn(image, stages);
        if (name !== undefined && /^as$/i.test(as?.value ?? "")) stages.set(name.value.toLowerCase(), stage);
        break;
      }
      case "ENV":
        if (stage.environment.length < maxEnvironment) {
          stage.environment = [...stage.environment, ...wordsOf(instruction.text).filter(isAssignment)];
        }
        stage.isOwn ||= stage.environment.some(({ value }) => value.startsWith("LLAMA_"));
        break;
      case "RUN":
        commands.push(runCommands(run, stage.environment));
        break;
      case "ENTRYPOINT":
        // the arguments of what it is based on are not meant for it
        if (!stage.isOwn) delete stage.command;
        Object.assign(stage, { entrypoint: run, isOwn: true, isEntrypointOwn: true });
        break;
      case "CMD":
        Object.assign(stage, { command: run, isOwn: true });
    }
  }
  return [...commands.flat(), ...stageCommands(stage)];
}

const emptyStage = (image: CommandWord): Stage => ({
  image,
  environment: [],
  isOwn: false,
  isEntrypointOwn: false,
});

function basedOn(image: CommandWord | undefined, stages: ReadonlyMap<string, Stage>): Stage {
  const word = image ?? { value: "", start: 0, end: 0 };
  const base = stages.get(word.value.toLowerCase());
  // where a stage inherits, its own FROM stands for what it uses
  const at = { start: word.start, end: word.end };
  return base === undefined
    ? emptyStage(word)
    : { ...base, image: { ...base.image, ...at }, isOwn: false, isEntrypointOwn: false };
}

function stageCommands({
  image,
  entrypoint,
  command,
  environment,
  isOwn,
  isEntrypointOwn,
}: Stage): SimpleCommand[] {
  if (!isOwn) return [];
  if (entrypoint?.kind === "shell") return runCommands(entrypoint, environment);
  if (command?.kind === "shell" && entrypoint === undefined) return runCommands(command, environment);
  const used = isEntrypointOwn ? {} : { used: { start: image.start, end: image.end } };
  const entry: ContainerWords | undefined = entrypoint && { words: entrypoint.words, ...used };
  const args = command?.kind === "exec" ? { words: command.words } : undefined;
  return containerCommands({
    image: { word: image },
    entrypoint: entry,
    arguments: args,
    environment,
    isImageKnown: true,
  });
}

function runCommands(run: Run, environment: readonly CommandWord[]): SimpleCommand[] {
  const commands = run.kind === "exec" ? [{ words: run.words }] : run.commands;
  const variables = environment.slice(0, maxEnvironment);
  return commands.map((command) => ({ ...command, words: [...variables, ...command.words] }));
}

/** A list, otherwise a line or a here-document for the shell. */
function runOf({ text, bodies, name }: Instruction): Run {
  const line = name === "RUN" ? text.blanked(/^(?:--[\w-]+(?:=\S+)?\s+)+/) : text;
  const start = line.text.trimStart();
  // no shell replaces anything in a list
  if (start.startsWith("[")) return { kind: "exec", words: jsonListWords(line).map(asWritten) };
  const [body] = bodies;
  const isScript = body !== undefined && /^(?:(?:\/bin\/)?(?:ba|da|z|a)?sh\s+)?<</.test(start);
  return { kind: "shell", commands: splitMapped(isScript ? body : line, "posix") };
}

const asWritten = ({ value, start, end, inner }: CommandWord): CommandWord => ({
  value,
  start,
  end,
  ...(inner && { inner }),
});

const isAssignment = ({ value }: CommandWord): boolean => /^[A-Za-z_]\w*=/.test(value);

function wordsOf(text: MappedText): readonly CommandWord[] {
  return splitMapped(text, "posix").flatMap(({ words }) => words);
}
