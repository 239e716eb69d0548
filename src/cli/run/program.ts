import { Command, CommanderError } from "commander";
import { say } from "../../core/text";
import { UserError, type UserErrorReason } from "../../core/userError";
import { withoutSecrets } from "../../core/withoutSecrets";
import { endProgress, exitCode, printError, type ExitCode } from "../output";
import type { CliCommand } from "../command";
import { version } from "../kept";
import { splitArguments } from "../launch";

/** Only what is asked for is loaded: most commands need a fraction of the program. */
export const commands: Readonly<Record<string, () => Promise<CliCommand>>> = {
  count: async () => (await import("../count")).addCount,
  tokenize: async () => (await import("../tokenize")).addTokenize,
  model: async () => (await import("../model")).addModel,
  memory: async () => (await import("../memory")).addMemory,
  "max-context": async () => (await import("../memory")).addMaxContext,
  predict: async () => (await import("../speed/predict")).addPredict,
  check: async () => (await import("../check")).addCheck,
  lint: async () => (await import("../lint")).addLint,
  ladder: async () => (await import("../ladder")).addLadder,
  "compare-ladders": async () => (await import("../compareLadders")).addCompareLadders,
  "explain-log": async () => (await import("../explainLog")).addExplainLog,
  pack: async () => (await import("../pack")).addPack,
  history: async () => (await import("../history")).addHistory,
  conversation: async () => (await import("../conversation")).addConversation,
  probe: async () => (await import("../speed/probe")).addProbe,
  compare: async () => (await import("../speed/compare")).addCompare,
  mcp: async () => (await import("../mcp")).addMcp,
};

/** The command that is named, or all of them for help and for names that are none. */
function commandsFor(argv: readonly string[]): Promise<readonly CliCommand[]> {
  const named = argv.find((argument) => !argument.startsWith("-")) ?? "";
  const load = Object.hasOwn(commands, named) ? commands[named] : undefined;
  return Promise.all(load === undefined ? Object.values(commands).map((each) => each()) : [load()]);
}

const outside: ReadonlySet<UserErrorReason> = new Set([
  "refused",
  "timeout",
  "unauthorized",
  "loading",
  "badOutput",
  "outsideFailed",
]);

/** Runs one command; never throws. What follows `--` belongs to llama-server and is not parsed here. */
export async function run(argv: readonly string[], signal: AbortSignal): Promise<ExitCode> {
  const { own, serverArguments } = splitArguments(argv);
  let code: ExitCode = exitCode.done;

  const program = new Command("llama-gauge")
    .version(version)
    .description("Does it fit, is there enough memory, how long will I wait: for llama.cpp.")
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(withoutSecrets(text)) });
  for (const add of await commandsFor(own)) {
    add(program, { signal, serverArguments, finish: (result) => (code = result) });
  }

  try {
    workingFolder();
    refuseUnused(own, serverArguments);
    await program.parseAsync(own, { from: "user" });
    return code;
  } catch (error) {
    endProgress();
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.badInput;
    if (error instanceof UserError) {
      printError(error.message);
      if (error.reason === "noFigure") return exitCode.noFigure;
      return outside.has(error.reason) ? exitCode.outsideFailed : exitCode.badInput;
    }
    if (signal.aborted) {
      printError("Cancelled.");
      return exitCode.outsideFailed;
    }
    printError(
      `This is a bug, please report it. ${error instanceof Error ? (error.stack ?? "") : String(error)}`,
    );
    return exitCode.outsideFailed;
  }
}

/** Commands that start no server and are about none. */
const withoutServer: ReadonlySet<string> = new Set(["lint", "explain-log", "compare-ladders", "history"]);

/** Arguments that change nothing are answered as such. @throws UserError */
function refuseUnused(own: readonly string[], serverArguments: readonly string[]): void {
  const named = own.find((argument) => withoutServer.has(argument));
  if (named === undefined || named !== own[0] || serverArguments.length === 0) return;
  throw new UserError(
    "invalidInput",
    say`${named} has no use for llama-server's arguments (${serverArguments.join(" ")}).`,
    say`Leave them out.`,
  );
}

/** Every relative path begins there. @throws UserError where it was deleted */
function workingFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new UserError(
      "invalidInput",
      say`The folder in which llama-gauge was started no longer exists.`,
      say`Change to another folder.`,
      { cause },
    );
  }
}
