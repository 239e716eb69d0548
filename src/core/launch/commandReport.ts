import { say, type Text } from "../text";
import { parseArguments, type LaunchProblem } from "./commandLine";
import { launchAdvice, type LaunchAdvice } from "./launchRules";
import { findServerCommand } from "./serverCommand";
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
      ...problems.map((problem) => remark(problem, at(problem.argument))),
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

/** What to say when nothing was found. */
export const noServerCommand = say`There is no llama-server command here.`;
