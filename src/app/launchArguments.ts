import { parseArguments, type LaunchProblem } from "../core/launch/commandLine";
import type { LaunchOptions } from "../core/launch/launchOptions";
import { splitCommandLine } from "../core/scripts/splitCommandLine";
import { inheritedOptions, systemOptions } from "../node/machine/systemOptions";

/** What a llama-server started from here with these options gets: settings of the system, variables, then these. */
export async function launchWith(options: LaunchOptions): Promise<LaunchOptions> {
  return { ...(await inheritedOptions()), ...options };
}

/** The same for the arguments of a llama-server. Problems it would have with them are told one by one. */
export async function launchOptions(
  serverArguments: readonly string[],
  tell: (problem: LaunchProblem) => void,
): Promise<LaunchOptions> {
  const { options, problems } = parseArguments(serverArguments, process.env);
  for (const problem of problems) tell(problem);
  return { ...(await systemOptions()), ...options };
}

/** The arguments in a command line as it would be typed in the shell of this system. */
export function typedArguments(text: string): readonly string[] {
  return splitCommandLine(text, process.platform === "win32" ? "powershell" : "posix");
}
