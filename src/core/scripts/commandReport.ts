import { say, type Text } from "../text";
import { parseArguments, type LaunchProblem } from "../launch/commandLine";
import type { LaunchOptions } from "../launch/launchOptions";
import { launchAdvice, type LaunchAdvice } from "../launch/launchRules";
import { withInnerCommands } from "./innerShell";
import type { Place } from "./mappedText";
import { powershellCommands } from "./powershell";
import { shellCommands } from "./shellVariables";
import { findServerCommand } from "./serverCommand";
import { optionOfFlag, type ServerOption } from "../launch/serverOptions";
import { splitCommands, type CommandWord, type Shell, type SimpleCommand } from "./splitCommandLine";

export interface CheckedCommand {
  /** Place of the program, or of what stands for it where the command is used. No two commands have the same. */
  readonly program: Place;
  /** From its first word to its last, where they stand in one piece. */
  readonly place: Place;
  readonly words: readonly string[];
  /** As they were written, secrets included. */
  readonly arguments: readonly string[];
  /** Can it be started as it is? Not if only a shell or a container knows what it will get. */
  readonly isPlain: boolean;
  readonly remarks: readonly CommandRemark[];
  readonly options: LaunchOptions;
}

export interface CommandRemark extends Place {
  readonly severity: "error" | "warning" | "information";
  readonly code: string;
  readonly message: Text;
}

/** Every llama-server among the commands, with what is wrong or worth knowing about its arguments. */
export function checkCommands(commands: readonly SimpleCommand[]): CheckedCommand[] {
  return commands.flatMap(({ words, used, isInContainer }) => {
    const command = findServerCommand(words.map(({ value }) => value));
    const first = words[0];
    if (command === undefined || first === undefined) return [];
    const { options, origins, problems, given } = parseArguments(command.arguments, command.environment);
    const variables = new Map(
      words.toReversed().map((word) => [word.value.slice(0, Math.max(0, word.value.indexOf("="))), word]),
    );
    const at = (argument: number | undefined, variable?: string): CommandWord =>
      (argument === undefined ? undefined : words[command.argumentStart + argument]) ??
      (variable === undefined ? undefined : variables.get(variable)) ??
      first;
    const remarks = [
      // what a variable will hold nobody knows here
      ...problems
        .map((problem) => ({ problem, word: at(problem.argument, problem.variable) }))
        .filter(({ word }) => word.expands !== true)
        .map(({ problem, word }) => remark(problem, word)),
      ...launchAdvice(options).map((advice) => {
        const origin = origins.get(advice.field);
        const source = given.findLast((each) => each.origin === origin);
        return remark(
          advice,
          at(source?.argument, origin?.kind === "environment" ? origin.variable : undefined),
        );
      }),
    ];
    const { start, end } = used ?? words.find(({ value }) => value === command.program) ?? first;
    return [
      {
        program: { start, end },
        place: { start: Math.min(start, first.start), end: Math.max(end, words.at(-1)?.end ?? end) },
        words: words.map(({ value }) => value),
        arguments: command.arguments,
        isPlain:
          isInContainer !== true &&
          words.slice(command.argumentStart).every(({ expands }) => expands !== true) &&
          !Object.keys(command.environment).some((name) => name.startsWith("LLAMA_")),
        remarks,
        options,
      },
    ];
  });
}

/** The commands of a script, `sh -c` and the like undone. */
export function commandsOf(text: string, shell: Shell): SimpleCommand[] {
  if (shell === "powershell") return withInnerCommands(powershellCommands(text));
  return withInnerCommands(shell === "posix" ? shellCommands(text) : splitCommands(text, shell));
}

function remark(
  { severity, code, message }: LaunchProblem | LaunchAdvice,
  { start, end }: CommandWord,
): CommandRemark {
  return { severity, code, message, start, end };
}

/** The option named at an offset of a file with these commands. */
export function optionAt(
  commands: readonly SimpleCommand[],
  offset: number,
): ({ readonly option: ServerOption } & Place) | undefined {
  for (const { words } of commands) {
    const word = words.find(({ start, end }) => offset >= start && offset <= end);
    if (word === undefined || findServerCommand(words.map(({ value }) => value)) === undefined) continue;
    const named = optionOfFlag(word.value.split("=", 1)[0] ?? "");
    if (named !== undefined) return { option: named.option, start: word.start, end: word.end };
  }
  return undefined;
}

/** What to say when nothing was found. */
export const noServerCommand = say`There is no llama-server command here.`;
