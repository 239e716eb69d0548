import { say, type Text } from "../text";
import { parseArguments, type LaunchProblem } from "../launch/commandLine";
import type { LaunchOptions } from "../launch/launchOptions";
import { launchAdvice, type LaunchAdvice } from "../launch/launchRules";
import { powershellCommands } from "./powershell";
import { findServerCommand } from "./serverCommand";
import { optionOfFlag, type ServerOption } from "../launch/serverOptions";
import { splitCommands, type CommandWord, type Shell, type SimpleCommand } from "./splitCommandLine";
import { largest } from "../lists";

export interface CheckedCommand {
  /** Place of the command in the text, UTF-16 offsets. */
  readonly start: number;
  readonly end: number;
  /** Place of the program in it. */
  readonly program: { readonly start: number; readonly end: number };
  /** As they were written, secrets included. */
  readonly arguments: readonly string[];
  /** false: what some of its words will be is known only when it runs. */
  readonly isPlain: boolean;
  readonly remarks: readonly CommandRemark[];
  readonly options: LaunchOptions;
}

export interface CommandRemark {
  readonly severity: "error" | "warning" | "information";
  readonly code: string;
  readonly message: Text;
  readonly start: number;
  readonly end: number;
}

/** Every llama-server in a script or command line, with what is wrong or worth knowing about its arguments. */
export function checkCommands(text: string, shell: Shell): CheckedCommand[] {
  return commandsOf(text, shell).flatMap(({ words }) => {
    const command = findServerCommand(words.map(({ value }) => value));
    const first = words[0];
    if (command === undefined || first === undefined) return [];
    const { options, origins, problems, given } = parseArguments(command.arguments, command.environment);
    const at = (argument: number | undefined): CommandWord =>
      (argument === undefined ? undefined : words[command.argumentStart + argument]) ?? first;
    const remarks = [
      // what a variable will hold nobody knows here
      ...problems
        .filter(({ argument }) => at(argument).expands !== true)
        .map((problem) => remark(problem, at(problem.argument))),
      ...launchAdvice(options).map((advice) => {
        const origin = origins.get(advice.field);
        const source = given.findLast((each) => each.origin === origin);
        return remark(advice, at(source?.argument));
      }),
    ];
    const program = words.find(({ value }) => value === command.program) ?? first;
    return [
      {
        start: first.start,
        // the items of a list may stand far in front
        end: largest(words.map(({ end }) => end)),
        program,
        arguments: command.arguments,
        isPlain: words.slice(command.argumentStart).every(({ expands }) => expands !== true),
        remarks,
        options,
      },
    ];
  });
}

function commandsOf(text: string, shell: Shell): SimpleCommand[] {
  return shell === "powershell" ? powershellCommands(text) : splitCommands(text, shell);
}

function remark(
  { severity, code, message }: LaunchProblem | LaunchAdvice,
  { start, end }: CommandWord,
): CommandRemark {
  return { severity, code, message, start, end };
}

/** The option named at an offset of a script. */
export function optionAt(
  text: string,
  offset: number,
  shell: Shell,
): { readonly option: ServerOption; readonly start: number; readonly end: number } | undefined {
  for (const { words } of commandsOf(text, shell)) {
    const word = words.find(({ start, end }) => offset >= start && offset <= end);
    if (word === undefined || findServerCommand(words.map(({ value }) => value)) === undefined) continue;
    const named = optionOfFlag(word.value.split("=", 1)[0] ?? "");
    if (named !== undefined) return { option: named.option, start: word.start, end: word.end };
  }
  return undefined;
}

/** What to say when nothing was found. */
export const noServerCommand = say`There is no llama-server command here.`;
