import { say, type Text } from "../text";
import { parseArguments, type LaunchProblem } from "./commandLine";
import { launchAdvice, type LaunchAdvice } from "./launchRules";
import { findServerCommand } from "./serverCommand";
import { optionOfFlag, type ServerOption } from "./serverOptions";
import { splitCommands, type CommandWord, type Shell } from "./splitCommandLine";

export interface CheckedCommand {
  /** Place of the command in the text, UTF-16 offsets. */
  readonly start: number;
  readonly end: number;
  readonly remarks: readonly CommandRemark[];
  readonly options: ReturnType<typeof parseArguments>["options"];
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
  return splitCommands(text, shell).flatMap(({ words }) => {
    const command = findServerCommand(words.map(({ value }) => value));
    const [first, last] = [words[0], words.at(-1)];
    if (command === undefined || first === undefined || last === undefined) return [];
    const { options, origins, problems, given } = parseArguments(command.arguments, command.environment);
    const at = (argument: number | undefined): CommandWord =>
      (argument === undefined ? undefined : words[command.argumentStart + argument]) ?? first;
    const remarks = [
      // what a variable will hold nobody knows here
      ...problems
        .filter(({ argument }) => !/[$`%{}]/.test(at(argument).value))
        .map((problem) => remark(problem, at(problem.argument))),
      ...launchAdvice(options).map((advice) => {
        const origin = origins.get(advice.field);
        const source = given.findLast((each) => each.origin === origin);
        return remark(advice, at(source?.argument));
      }),
    ];
    return [{ start: first.start, end: last.end, remarks, options }];
  });
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
  for (const { words } of splitCommands(text, shell)) {
    const word = words.find(({ start, end }) => offset >= start && offset <= end);
    if (word === undefined || findServerCommand(words.map(({ value }) => value)) === undefined) continue;
    const named = optionOfFlag(word.value.split("=", 1)[0] ?? "");
    if (named !== undefined) return { option: named.option, start: word.start, end: word.end };
  }
  return undefined;
}

/** What to say when nothing was found. */
export const noServerCommand = say`There is no llama-server command here.`;
